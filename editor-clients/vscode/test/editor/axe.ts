/// <reference lib="dom" />
// Audits HTML pages with axe-core in Chromium, with the styles that the editor gives to webviews.
import type { AxeResults, default as Axe } from 'axe-core';
import { readFileSync } from 'node:fs';
import type { Frame, Page } from 'playwright-core';
import { contrastOf } from './contrast';

/** Texts that axe-core does not measure: those of the plot, and the marks of gates. */
const MEASURED = 'svg text, td[aria-hidden]';
/** WCAG AA. */
const LEAST_CONTRAST = 4.5;
const AXE = 'node_modules/axe-core/axe.min.js';

/** What the editor adds to the document of a webview. */
export interface WebviewStyle {
  /** The colors of the theme, as variables. */
  variables: string;
  styleSheet: string;
  bodyClass: string;
}

export function webviewStyle(frame: Frame): Promise<WebviewStyle> {
  return frame.evaluate(() => ({
    variables: document.documentElement.getAttribute('style') ?? '',
    styleSheet: document.getElementById('_defaultStyles')?.textContent ?? '',
    bodyClass: document.body.className,
  }));
}

/** Shows a page as a webview does. The editor's background is behind a webview. */
async function show(page: Page, html: string, style: WebviewStyle): Promise<void> {
  await page.setContent(html);
  await page.evaluate(({ variables, styleSheet, bodyClass }) => {
    const { documentElement, head, body } = document;
    documentElement.setAttribute('style', `${variables}; background: var(--vscode-editor-background)`);
    const sheet = document.createElement('style');
    sheet.textContent = styleSheet;
    head.prepend(sheet);
    body.className = bodyClass;
    document.querySelectorAll('details').forEach((details) => (details.open = true));
  }, style);
}

/** The serious and critical problems of a page, and texts whose contrast axe cannot measure, in a line each. */
export async function problems(page: Page, html: string, style: WebviewStyle): Promise<string[]> {
  await show(page, html, style);
  await page.evaluate(readFileSync(AXE, 'utf8'));
  const { violations, incomplete } = await page.evaluate(async (): Promise<AxeResults> => {
    const { axe } = window as unknown as { axe: typeof Axe };
    return axe.run(document);
  });
  const found = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const measured = await Promise.all(
    (await page.locator(MEASURED).all()).map((one) => one.evaluate(contrastOf)),
  );
  const faint = measured.filter((ratio) => ratio < LEAST_CONTRAST).map((ratio) => `a contrast of ${ratio}`);
  const isMeasured = (html: string): boolean => /^<(text|td aria-hidden)/.test(html);
  const unknown = incomplete.filter(
    ({ id, nodes }) => id === 'color-contrast' && !nodes.every((node) => isMeasured(node.html)),
  );
  const told = [...found, ...unknown].flatMap(({ id, help, nodes }) =>
    nodes.map(({ html: element, failureSummary }) => `${id}: ${help}: ${element} ${failureSummary ?? ''}`),
  );
  return [...told, ...faint];
}
