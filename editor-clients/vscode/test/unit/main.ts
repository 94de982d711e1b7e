// All tests that need no editor.
import './draftFolder';
import './messages';
import './package';
import './packetTexts';
import './rowChanges';
import './server';
import './status';
import './supervisor';
import './surfaces';
import './threads';
import './watch';
