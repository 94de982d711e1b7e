// All tests that need no editor.
import './draftFolder';
import './highlighting';
import './package';
import './packaging';
import './packetTexts';
import './server';
import './surfaces';
import './terminals';
import './threads';
import './watch';
