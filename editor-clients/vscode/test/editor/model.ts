// A scripted model with OpenAI chat completions on a loopback port, whose answers can be delayed.
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Reply {
  says: string;
  /** The reported usage in tokens. */
  tokens: number;
}

export const WINDOW = 10_000;

const PACKET =
  '<continuation_packet>\nState: working\nGoal: write the parser\nDone: parser.rs\nDecisions: none\nNext: write the docs\n</continuation_packet>';

/** The kind of a request: a text from rawr by its purpose, a user message by its words. */
export type Asked = 'packet_request' | 'handoff' | 'summary' | 'work';

function asked(body: Request): Asked {
  if (body.tool_choice === 'none') return 'summary';
  const last = body.messages.at(-1)?.content ?? '';
  const purpose = /\[rawr:\S+:(packet_request|handoff)\]/.exec(last)?.[1];
  return purpose === 'packet_request' || purpose === 'handoff' ? purpose : 'work';
}

interface Request {
  tool_choice?: string;
  messages: { content?: string }[];
}

export class Model {
  private readonly held = new Map<Asked, Promise<void>>();
  private readonly releases: (() => void)[] = [];
  readonly seen: Asked[] = [];
  /** The last handoff. */
  handoff = '';
  /** Sets the usage after the next turn. */
  next: Reply = { says: 'I wrote the parser, and every test passes. All done.', tokens: 5_500 };

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Model> {
    const server = createServer();
    const model = new Model(server);
    server.on('request', (request, response) => void model.answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Delays answers to this until the returned function is called. */
  hold(what: Asked): () => void {
    let release = (): void => undefined;
    this.held.set(what, new Promise((resolve) => (release = resolve)));
    this.releases.push(release);
    return () => {
      this.held.delete(what);
      release();
    };
  }

  /** Releases all delayed answers. */
  release(): void {
    this.held.clear();
    for (const release of this.releases.splice(0)) release();
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Request;
    const what = asked(body);
    this.seen.push(what);
    if (what === 'handoff') this.handoff = body.messages.at(-1)?.content ?? '';
    await this.held.get(what);
    const reply: Record<Asked, Reply> = {
      packet_request: { says: PACKET, tokens: 5_600 },
      handoff: { says: 'I go on with the docs.', tokens: 600 },
      summary: { says: 'The parser is written.', tokens: 5_700 },
      work: this.next,
    };
    write(response, reply[what]);
  }
}

function write(response: ServerResponse, { says, tokens }: Reply): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const event = (value: unknown): unknown => response.write(`data: ${JSON.stringify(value)}\n\n`);
  event({ choices: [{ index: 0, delta: { role: 'assistant', content: says }, finish_reason: null }] });
  event({ choices: [{ delta: {}, finish_reason: 'stop' }] });
  event({ choices: [], usage: { prompt_tokens: tokens, completion_tokens: 20 } });
  response.end('data: [DONE]\n\n');
}
