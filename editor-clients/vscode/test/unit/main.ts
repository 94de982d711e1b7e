// All tests that need no editor.
import './demoHome';
import './draftFolder';
import './highlighting';
import './messages';
import './package';
import './packaging';
import './packetTexts';
import './pictures';
import './rowChanges';
import './server';
import './status';
import './supervisor';
import './surfaces';
import './terminals';
import './threads';
import './tools';
import './watch';
