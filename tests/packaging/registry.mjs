// An npm registry of the archives in a folder, for one machine: `node registry.mjs FOLDER PORT`. A listening server prints a line.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

const [folder, port] = process.argv.slice(2);
const here = `http://127.0.0.1:${port}`;
const archives = readdirSync(folder).filter((name) => name.endsWith('.tgz'));

function entry(archive) {
  const file = path.join(folder, archive);
  const manifest = JSON.parse(
    execFileSync('tar', ['-xOzf', file, 'package/package.json'], { encoding: 'utf8' }),
  );
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  const version = { ...manifest, dist: { tarball: `${here}/${archive}`, integrity } };
  const versions = { [manifest.version]: version };
  return [manifest.name, { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions }];
}

const packages = new Map(archives.map(entry));

createServer((request, response) => {
  const name = request.url.slice(1);
  if (archives.includes(name)) response.end(readFileSync(path.join(folder, name)));
  else if (packages.has(name)) response.end(JSON.stringify(packages.get(name)));
  else response.writeHead(404).end('{}');
}).listen(Number(port), '127.0.0.1', () => console.log('listening'));
