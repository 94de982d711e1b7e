import { type Engine, expect } from 'claude-code/testing'
import { check, fake, type Fake, open, SESSION } from './fake'

const SURFACES = ['terminal', 'desktop', 'vscode', 'mobile'] as const
const PROPS = {
  hasSurvey: false,
  isCollapsed: false,
  isWorking: false,
  maxRows: 20,
  bodyColumns: 80,
  scroll: { offset: 0, bodyRows: 19 },
  view: {},
}
const BAND = {
  title: 'Compacting soon',
  text: 'The next message decides.',
  buttons: [
    { label: 'Compact', arguments: ['compact', SESSION] },
    { label: 'Snooze', arguments: ['snooze', SESSION] },
  ],
}

async function run($: Engine, args: string): Promise<string | undefined> {
  const ran = await $.command.run({
    command: 'rawr',
    args,
    origin: { kind: 'composer' },
    presentation: { isFullscreen: false, columns: 80 },
  })
  return ran.text
}

async function showBand(it: Fake): Promise<void> {
  await it.print({ order: 'show', status: 'rawr 62% left', band: BAND })
}

check('the status line shows what rawr prints', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await it.clock.advance(61_000)
  await it.print({ order: 'show', status: 'rawr 62% left' })
  expect(it.status).toBe('rawr 62% left')
})

for (const surface of SURFACES) {
  check(`${surface} shows the band, and its buttons run their commands`, async ($, on) => {
    const it = fake(on)
    it.output = 'no compaction for one turn\nmore\n'
    await open($, it)
    await showBand(it)
    const ui = await $.ui.mount({ plugin: 'rawr', surface, component: 'AbovePrompt', props: PROPS })
    expect(await ui.find({ text: 'rawr: Compacting soon' })).toBeDefined()
    expect(await ui.find({ text: BAND.text })).toBeDefined()
    const buttons = await ui.findAll({ type: 'Button' })
    expect(buttons.map(({ props }) => props['label'])).toEqual(['Compact', 'Snooze'])
    await ui.press({ key: 'Snooze' })
    expect(it.commands).toEqual([['rawr', 'snooze', SESSION]])
    expect(it.toasts).toEqual(['rawr: no compaction for one turn'])
  })
}

check('under a survey and after its end the band is not drawn', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await showBand(it)
  const target = { plugin: 'rawr', surface: 'terminal', component: 'AbovePrompt' } as const
  const ui = await $.ui.mount({ ...target, props: PROPS })
  expect(await ui.find({ text: BAND.text })).toBeDefined()
  await ui.redraw({ ...PROPS, hasSurvey: true })
  expect(await ui.find({ text: BAND.text })).toBeUndefined()
  await ui.redraw(PROPS)
  await it.print({ order: 'show', status: 'rawr 62% left' })
  expect(await ui.find({ text: BAND.text })).toBeUndefined()
})

check('/rawr shows the status of this session', async ($, on) => {
  const it = fake(on)
  it.output = '62% left\n'
  await open($, it)
  expect(await run($, '')).toBe('62% left')
  expect(it.commands).toEqual([['rawr', 'status', SESSION]])
})

check('/rawr passes its words on', async ($, on) => {
  const it = fake(on)
  await open($, it)
  await run($, 'guard --next-commit')
  expect(it.commands).toEqual([['rawr', 'guard', SESSION, '--next-commit']])
})

check('/rawr passes on an instruction as one text', async ($, on) => {
  const it = fake(on)
  await open($, it)
  for (const args of ['pin "Never touch main."', 'pin Never touch main.', "pin 'Never touch main.'"]) {
    await run($, args)
  }
  expect(it.commands).toEqual(Array(3).fill(['rawr', 'pin', SESSION, 'Never touch main.']))
  await run($, 'pin Don\'t  use "any".')
  await run($, 'pin --remove 1')
  expect(it.commands.slice(3)).toEqual([
    ['rawr', 'pin', SESSION, 'Don\'t  use "any".'],
    ['rawr', 'pin', SESSION, '--remove', '1'],
  ])
})

check('/rawr names its commands if one is unknown', async ($, on) => {
  const it = fake(on)
  await open($, it)
  expect(await run($, 'exec rm')).toContain('status, explain, compact')
  expect(it.commands).toEqual([])
})
