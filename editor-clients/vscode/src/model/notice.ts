// The notification of a banner. Answers are links, because a notification with progress stays until its sequence ends and then
// closes by itself, and one with buttons does neither.
import type { Choice } from '../protocol';
import * as banners from './banner';
import { type Banner } from './banner';
import * as words from './words';

export interface Answer {
  threadId: string;
  sequenceId: string;
  choice: Choice;
}

export function notice(banner: Banner): string {
  const { threadId } = banner;
  const { sequenceId, choices } = banner.headsUp;
  const links = choices.map(({ choice, label }) => link(label, { threadId, sequenceId, choice }));
  const said = [banners.title(banner), banners.why(banner), banners.now(banner)].filter(Boolean).join(' · ');
  return [banners.harmless(said), links.join(' | ')].filter(Boolean).join(' — ');
}

function link(label: string, answer: Answer): string {
  return `[${words.translated(label)}](command:rawr.answerWith?${encodeURIComponent(JSON.stringify([answer]))})`;
}
