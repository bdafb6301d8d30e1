// The workbench in a real browser: what an author sees while a map is written, by keyboard alone.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { browserNote, browserPath, openPage, violations } from '../../support/browser.ts'
import { copyMaps } from '../../support/maps.ts'
import { fieldsIn, type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let folder: string
let service: Service
let user: PortalUser

beforeAll(async () => {
  folder = await temporaryFolder('maps')
  await copyMaps(folder)
  service = await startService({ MAPPINGS_DIR: folder })
  user = await portalUser(service, ['informaticist'])
})

async function signedIn(options: Parameters<typeof openPage>[0] = {}): Promise<Page> {
  const page = await openPage({ baseURL: service.url, viewport: { width: 1400, height: 1000 }, ...options })
  const [name, value] = user.cookie.split('=') as [string, string]
  await page.context().addCookies([{ name, value, url: service.url }])
  return page
}

async function opened(path: string): Promise<Page> {
  const page = await signedIn()
  await page.goto(path)
  await page.locator('.editor').first().waitFor()
  return page
}

/** Puts the cursor behind a text of the map. */
async function goBehind(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Rules' }).focus()
  await page.keyboard.press('Control+f')
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.keyboard.press('ArrowRight')
}

describe.skipIf(!browserPath)(`the workbench in a browser${browserNote}`, () => {
  test('completes names, shows problems and output as they are typed, applies a fix and saves, by keyboard', async () => {
    const page = await opened('/portal/maps/allergy-to-fhir')
    await goBehind(page, 'src.id -> tgt.id;')
    await page.keyboard.press('Enter')
    await page.keyboard.type('src.subst')
    await page.getByRole('option', { name: /^substance/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type(' as words -> tgt.note as note, note.txt = words;')
    await expect.poll(() => page.locator('#problems').innerText()).toContain('did you mean `text`?')
    await page.locator('.cm-lintRange-error').first().waitFor()
    await page.keyboard.press('F8')
    await page.getByRole('button', { name: 'Write text' }).first().click()
    await expect.poll(() => page.locator('#problems').innerText()).toContain('No problems')
    await expect.poll(() => page.locator('#output').innerText()).toContain('"note"')
    expect(await page.locator('.cm-rules .cm-ran').count()).toBeGreaterThan(0)
    expect(await page.locator('#examples').innerText()).toContain('0 of 5 pass')
    await page.getByLabel('Save although examples fail').check()
    await page.getByRole('textbox', { name: 'Rules' }).focus()
    await page.keyboard.press('Control+s')
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor()
    expect(await readFile(join(folder, 'allergy-to-fhir.fml'), 'utf8')).toContain(
      '  src.substance as words -> tgt.note as note, note.text = words;\n',
    )
  })

  test('keeps what is not saved through a reload, and forgets it once it is saved', async () => {
    const page = await opened('/portal/maps/diagnosis-to-fhir')
    await page.getByRole('textbox', { name: 'Rules' }).focus()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('// Not saved yet.\n')
    await expect.poll(() => page.locator('#problems').innerText()).toContain('No problems')
    await page.reload()
    await expect.poll(() => page.getByRole('textbox', { name: 'Rules' }).innerText()).toContain('// Not saved yet.')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor()
    await page.goto('/portal/maps/diagnosis-to-fhir')
    await expect.poll(() => page.evaluate('Object.keys(sessionStorage).length')).toBeLessThanOrEqual(1)
    expect(await readFile(join(folder, 'diagnosis-to-fhir.fml'), 'utf8')).toContain('// Not saved yet.')
  })

  test('begins a map from two types, and makes an example of what came in and out', async () => {
    const page = await opened('/portal/maps/allergy-to-fhir')
    await page.goto('/portal/maps')
    await page.getByLabel('Name').fill('allergy-flag')
    await page.getByLabel('From').fill('AllergyRecord')
    await page.getByLabel('To', { exact: true }).fill('Flag')
    await page.getByRole('button', { name: 'Draft the map' }).click()
    await page.locator('.editor').first().waitFor()
    await expect.poll(() => page.locator('#problems').innerText()).toContain('`resolved` has no translation')
    await goBehind(page, '// s:"resolved" - t:?')
    await page.keyboard.press('Home')
    await page.keyboard.press('Shift+End')
    await page.keyboard.type('s:resolved - t:')
    await page.getByRole('option', { name: /^inactive/ }).click()
    await expect.poll(() => page.locator('#output').innerText()).toContain('"Flag"')
    await page.getByLabel('Name of the example').fill('an active allergy')
    await page.getByRole('button', { name: 'Add as an example' }).click()
    await expect.poll(() => page.locator('#examples').innerText()).toContain('1 of 1 pass')
    await page.locator('.editor').first().waitFor()
    await page.getByRole('textbox', { name: 'Rules' }).focus()
    await page.keyboard.press('Control+s')
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor()
    expect(JSON.parse(await readFile(join(folder, 'allergy-flag.examples.json'), 'utf8'))).toMatchObject([
      { name: 'an active allergy', from: { substance: 'substance' }, to: { resourceType: 'Flag', status: 'active' } },
    ])
  })

  test('goes to lines and groups, and explains names', async () => {
    const page = await opened('/portal/maps/allergy-to-fhir')
    await page.locator('#groups a', { hasText: 'AllergySeverity' }).click()
    const line = page.locator('.cm-activeLine').first()
    expect(await line.innerText()).toContain('group AllergySeverity')
    await goBehind(page, 'src then AllergyStat')
    await page.keyboard.press('F12')
    await expect.poll(() => line.innerText()).toContain('group AllergyStatus')
    // The eighth character of the line stands in `status`.
    await page
      .locator('.cm-line', { hasText: 'src.status as status' })
      .first()
      .hover({ position: { x: 75, y: 10 } })
    await page.locator('.cm-explained', { hasText: 'AllergyRecord.status : code' }).waitFor()
  })

  test('works without scripts', async () => {
    const page = await signedIn({ javaScriptEnabled: false })
    await page.goto('/portal/maps/payment-to-fhir')
    const text = await page.getByLabel('Rules', { exact: true }).inputValue()
    await page.getByLabel('Rules', { exact: true }).fill(`// Written without scripts.\n${text}`)
    await page.getByLabel('Input').fill('{}')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    expect(await page.locator('#output').innerText()).toContain('input: Payment')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor()
    expect(await readFile(join(folder, 'payment-to-fhir.fml'), 'utf8')).toMatch(/^\/\/ Written without scripts\.\n/)
  })

  test('follows a change of the weights, and breaks no policy of the page', async () => {
    const page = await opened('/portal/matching')
    const broken: string[] = []
    page.on('console', message => void (message.type() === 'error' && broken.push(message.text())))
    await page.getByLabel('Birth date').nth(1).fill('1961-07-30')
    await expect.poll(() => page.locator('#effect').innerText()).toContain('two people')
    expect(await violations(page)).toEqual([])
    expect(broken).toEqual([])
  })
})

test('opens and saves a map of 1.7 MB', async () => {
  const path = '/portal/maps/consent-from-fhir'
  const fields = fieldsIn((await user.get(path)).text)
  const large = `${'// A long line of words that says nothing about consents at all, and again nothing.\n'.repeat(20_000)}${fields['text']}`
  expect(large.length).toBeGreaterThan(1_650_000)
  const answer = await user.post(path, { ...fields, text: large, do: 'save' })
  expect(answer.status).toBe(303)
  const now = fieldsIn((await user.get(path)).text)
  expect(now['text']).toBe(large)
  expect((await user.post(path, { ...now, text: fields['text']!, do: 'save' })).status).toBe(303)
})
