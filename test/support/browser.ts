// A real browser for tests of pages: the Chromium of this machine, one for all test files of a worker.
import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onCleanup } from './cleanup.ts'

/** Where Chromium is; undefined: nowhere that is known, and the tests of pages in a browser are left out. */
export const browserPath = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(path => path !== undefined && existsSync(path))

/** What the tests say where there is no browser. */
export const browserNote = browserPath ? '' : ' (left out: no Chromium; install it, or name it in CHROMIUM)'

let running: Promise<Browser> | undefined

/** Opens a page in a context of its own, which ends with the file. */
export async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  running ??= launched()
  const browser = await running
  const context = await browser.newContext(options)
  onCleanup(() => context.close())
  return context.newPage()
}

async function launched(): Promise<Browser> {
  // Tests run as root in containers, where Chromium has no sandbox.
  const browser = await chromium.launch({
    executablePath: browserPath!,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  process.once('exit', () => void browser.close())
  return browser
}

/** Returns what axe finds wrong with a page, a line each. https://www.w3.org/TR/WCAG22/ */
export async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the policy of the page does not bind.
  await page.evaluate(`${axe.source}; undefined`)
  const run = 'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)'
  const found = (await page.evaluate(run)) as { id: string; help: string; nodes: { target: string[] }[] }[]
  return found.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help} (${target.join(' ')})`))
}
