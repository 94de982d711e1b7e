// All tests that need no editor.
import './draftFolder';
import './package';
import './packetTexts';
import './server';
import './surfaces';
import './threads';
import './watch';
