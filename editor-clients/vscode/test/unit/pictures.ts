import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { describe, test } from 'node:test';

const FOLDER = '../../docs/src/pictures/vscode';

describe('the pictures in the guide', () => {
  const files = readdirSync(FOLDER);
  const scenes = files.filter((file) => file.endsWith('.txt')).map((file) => file.slice(0, -4));

  test('are there in both themes with their text, are small, and are shown', () => {
    const page = readFileSync('../../docs/src/quick-start/vscode.md', 'utf8');
    assert.ok(scenes.length >= 3);
    const pictures = scenes.flatMap((scene) => [`${scene}-dark.png`, `${scene}-light.png`]);
    assert.deepEqual(files.filter((file) => file.endsWith('.png')).sort(), pictures.sort());
    for (const picture of pictures) {
      assert.ok(statSync(`${FOLDER}/${picture}`).size < 150_000, picture);
      assert.ok(page.includes(`pictures/vscode/${picture}`), picture);
    }
  });
});
