// The messages of an editor, as a person finds and answers them.
import type { Locator, Page } from 'playwright-core';
import { succeeds, until } from './waiting';

const CENTER = '.notifications-center.visible';
/** How long a toast may take to appear, or to be hidden again. */
const TOAST_MS = 15_000;
/** How long a click may take that cannot be repeated. One that is given up may have been made all the same. */
export const CLICK_MS = 15_000;

export abstract class Messages {
  abstract get page(): Page;

  /** Messages, as toasts and in the notification center while that is open. */
  get toast(): Locator {
    return this.page.locator(`:is(.notifications-toasts, ${CENTER}) .notification-list-item`);
  }

  /** Waits for a message. */
  async hears(text: string | RegExp): Promise<void> {
    const toast = this.toast.filter({ hasText: text }).first();
    await this.amongMessages(`the message ${text}`, () => succeeds(toast.waitFor({ timeout: 3_000 })));
  }

  /** Waits for a message with a button. */
  async offers(choice: string): Promise<void> {
    const button = this.toast.getByRole('button', { name: choice, exact: true }).first();
    await this.amongMessages(choice, () => succeeds(button.waitFor({ timeout: 3_000 })));
  }

  /** Clicks a button of a message. */
  async answer(banner: string, choice: string): Promise<void> {
    await this.click(banner, (toast) => toast.getByRole('button', { name: choice, exact: true }));
  }

  /** Closes a message. */
  async dismiss(banner: string): Promise<void> {
    await this.click(banner, (toast) => toast.locator('.codicon-notifications-clear'));
  }

  private async click(banner: string, part: (toast: Locator) => Locator): Promise<void> {
    // The newest is first.
    const toast = this.toast.filter({ hasText: banner }).first();
    // A message may show what can be clicked only under the mouse.
    const shown = (): Promise<boolean> => succeeds(toast.hover({ timeout: 3_000 }));
    await this.amongMessages(
      `a button of "${banner}"`,
      async () => (await shown()) && succeeds(part(toast).click({ timeout: CLICK_MS })),
    );
  }

  /**
   * An editor hides a toast after 12 seconds, and shows none for a message that comes right after others: on a busy machine both
   * happen. As a person does, this then opens the notification center, which shows messages until they are cleared.
   */
  private async amongMessages(what: string, holds: () => Promise<boolean>): Promise<void> {
    const center = this.page.locator(CENTER);
    const bell = this.page.locator('.statusbar-item[id="status.notifications"]');
    const unhide = Date.now() + TOAST_MS;
    await until(what, async () => {
      if (await holds()) return true;
      if (Date.now() > unhide && !(await center.isVisible())) await succeeds(bell.click({ timeout: 3_000 }));
      return false;
    });
  }

  async bannerGoes(banner: string): Promise<void> {
    const toast = this.toast.filter({ hasText: banner });
    await until(`the end of "${banner}"`, async () => (await toast.count()) === 0);
  }
}
