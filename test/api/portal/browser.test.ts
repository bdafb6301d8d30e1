// Pages of the portal in a real browser: for keyboards, screen readers and telephones, without scripts, and with hostile data.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createAgent } from '../../../src/identity/agents.ts'
import { createClient } from '../../../src/identity/clients.ts'
import { browserNote, browserPath, openPage, violations } from '../../support/browser.ts'
import { consentOf } from '../../support/consents.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { subscriber, subscriptions, client as webhookClient } from '../../support/webhooks.ts'
import { connectCaller, setClock } from '../connect/support.ts'

let service: Service
let user: PortalUser
let agent: string
let client: string
let subscription: string
/** A Task that asks whether two records are one person's. */
let duplicate: string

beforeAll(async () => {
  if (!browserPath) return
  service = await startService()
  user = await portalUser(service, ['administrator'])
  const made = await createAgent(service.application.database, {
    ...{ name: '<img src=x onerror=document.title="stolen">', facilityId: 'ward-7', organizationId: 'hospital-a' },
  })
  agent = made.agent.id
  const created = await createClient(service.application.database, 'local', {
    ...{ name: '<img src=x onerror=document.title="stolen">', organizationId: 'hospital-a' },
    ...{ scopes: ['labs:write', 'payments:reconciliation:read', 'system/MedicationAdministration.cruds'] },
  })
  client = created.client.id
  const { database } = service.application
  await createClient(database, 'local', {
    id: 'app',
    name: 'App',
    organizationId: 'hospital-a',
    scopes: ['system/*.rs'],
  })
  const call = fhirCaller(() => service)
  await creatorBy(call)({ resourceType: 'Patient', id: 'amina' }, consentOf('by-amina', 'amina', 'hospital-a'))
  await call('GET', 'Patient/amina')
  const who = await webhookClient(service, 'hospital-a')
  const subscribed = await subscriber(who, ['encounter.created', 'lab_result.released'])
  subscribed.receiver.answer(
    response => void response.writeHead(500).end('<img src=x onerror=document.title="stolen">'),
  )
  subscription = subscribed.id
  await who.call('POST', `${subscriptions}/${subscription}/test`)
  await subscribed.attempted(1)
  const { tokens } = service.application.identity
  const token = await tokens.mint({ clientId: 'app', organizationId: 'hospital-a', consentExempt: false }, [
    'system/*.rs',
    'emergency:access',
  ])
  const emergency = { 'x-emergency-access': 'true', 'x-emergency-reason': 'unconscious, <b>allergies</b> unknown' }
  await call('GET', 'Patient/amina', { token, headers: emergency })
  for (const minutes of [3, 2, 1]) {
    setClock(Date.now() - minutes * 60_000)
    await service.application.sampler.take()
    vi.useRealTimers()
  }
  const awa = { first_name: 'Awa', date_of_birth: '1984-03-12', sex: 'female', phone_number: '+237677112233' }
  const { resolve } = connectCaller(() => service)
  await resolve({ ...awa, last_name: 'Ndiaye' })
  const { body } = await resolve({ ...awa, last_name: '<img src=x onerror=document.title="stolen">' })
  const asked = await call('GET', `Task?code=possible-duplicate&focus=Patient/${body.patient_id}`)
  duplicate = `/portal/duplicates/${asked.body.entry[0].resource.id}`
})

async function signedIn(options: Parameters<typeof openPage>[0] = {}): Promise<Page> {
  const page = await openPage({ baseURL: service.url, ...options })
  const [name, value] = user.cookie.split('=') as [string, string]
  await page.context().addCookies([{ name, value, url: service.url }])
  return page
}

const pages = (): string[] => [
  '/portal',
  '/portal/agents',
  `/portal/agents/${agent}`,
  '/portal/agents/agt_none',
  '/portal/audit',
  '/portal/audit?from=2026-01-01&outcome=4',
  '/portal/clients',
  `/portal/clients/${client}`,
  '/portal/patients',
  '/portal/patients/amina',
  '/portal/patients/amina?client=app&type=Observation',
  '/portal/webhooks',
  `/portal/webhooks/${subscription}`,
  '/portal/webhooks/events',
  `/portal/webhooks/${subscription}/replays?state=all&from=2026-01-01T08:00`,
  '/portal/webhooks/signature',
  '/portal/maps',
  '/portal/maps/allergy-to-fhir',
  '/portal/maps/hl7v2~oru-r01-to-fhir',
  '/portal/maps/allergy-to-fhir/history',
  '/portal/concept-maps',
  '/portal/matching',
  '/portal/consent-types',
  '/portal/emergencies',
  '/portal/requests',
  '/portal/requests?status=4&from=2026-01-01T08:00',
  '/portal/requests/errors',
  '/portal/duplicates',
  duplicate,
  `${duplicate}?keep=subject`,
  '/portal/operations',
  '/portal/operations?hours=48',
  '/portal/resources',
  '/portal/resources/Patient',
  '/portal/resources/Patient?q=_include%3D*&active=true',
  '/portal/resources/Consent?q=',
  '/portal/resources/Consent/by-amina',
  '/portal/resources/Consent/by-amina/history',
  '/portal/resources/Patient/amina/everything',
  '/portal/limits',
  '/portal/console',
  '/portal/console/search?type=Basic',
  '/portal/console/searchType',
  '/portal/console/bridgeSync',
]

describe.skipIf(!browserPath)(`in a browser${browserNote}`, () => {
  test.each([
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['French, on a telephone', { locale: 'fr-CM', viewport: { width: 360, height: 740 } }],
  ] as const)(
    'axe finds nothing wrong with any page: %s',
    async (_, options) => {
      const page = await signedIn(options)
      for (const path of pages()) {
        await page.goto(path)
        expect([path, await violations(page)]).toEqual([path, []])
      }
      await page.context().clearCookies()
      await page.goto('/portal/sign-in')
      expect(await violations(page)).toEqual([])
    },
    240_000,
  )

  test('nothing is wider than a telephone', async () => {
    const page = await signedIn({ viewport: { width: 360, height: 740 } })
    for (const path of pages()) {
      await page.goto(path)
      const wide = `[...document.querySelectorAll('body *')].filter(each => each.getBoundingClientRect().right > innerWidth).map(each => each.outerHTML.slice(0, 100))`
      expect([path, await page.evaluate(wide), await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
        path,
        [],
        360,
      ])
    }
  })

  test('the keyboard alone signs in, creates an agent and signs out', async () => {
    const page = await openPage({ baseURL: service.url })
    await page.goto('/portal/agents')
    expect(new URL(page.url()).pathname).toBe('/portal/sign-in')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe('#main')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type(user.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(user.password)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/portal/agents')
    await page.getByLabel('Name').focus()
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Tab')
    await page.keyboard.type('ward-9')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Agent created' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/portal/sign-in')
  })

  test('pages read and forms work without scripts', async () => {
    const page = await signedIn({ javaScriptEnabled: false })
    await page.goto(`/portal/agents/${agent}`)
    await page.getByRole('button', { name: 'Rotate the key' }).click()
    await page.waitForURL(`**/portal/agents/${agent}`)
    expect(await page.getByRole('cell', { name: 'Rotate the key' }).count()).toBe(1)
  })

  test('the keyboard creates a client and checks a signature, with replies that axe finds nothing wrong with', async () => {
    const page = await signedIn({ viewport: { width: 360, height: 740 } })
    await page.goto('/portal/clients')
    await page.getByLabel('Name').fill('Laboratory')
    await page.getByLabel('labs:read').focus()
    await page.keyboard.press('Space')
    await page.getByLabel('Name').press('Enter')
    await page.getByRole('heading', { name: 'Client created' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('link', { name: 'To the client' }).click()
    expect(await page.getByRole('rowheader', { name: 'labs:read' }).count()).toBe(1)
    await page.goto('/portal/webhooks/signature')
    await page.getByLabel('Headers').fill('webhook-id: evt_1')
    await page.getByLabel('Body').fill('{}')
    await page.getByLabel('Secret').fill('whsec_x')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  })

  test('the keyboard alone compares two records, previews a merge, and merges', async () => {
    const page = await signedIn()
    await page.goto('/portal/duplicates')
    await page.getByRole('link', { name: 'Awa' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'They are one person' }).waitFor()
    await page.getByLabel('Record B remains').focus()
    await page.keyboard.press('ArrowUp')
    expect(await page.getByLabel('Record A remains').isChecked()).toBe(true)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Record A after the merge' }).waitFor()
    await page.getByLabel('Note').first().focus()
    await page.keyboard.type('Same card.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('merged', { exact: true }).waitFor()
    expect(await page.getByText('Same card.').count()).toBe(1)
    expect(await violations(page)).toEqual([])
  })

  test('the keyboard gets a token in the console, sends a call, and finds it in the request log', async () => {
    const page = await signedIn({ viewport: { width: 360, height: 740 } })
    await page.goto('/portal/console/read')
    await page.getByText('Get a token').first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: /^Client/ }).focus()
    await page.keyboard.type('App')
    await page.getByLabel('Scopes').focus()
    await page.keyboard.type('system/Patient.rs')
    await page.keyboard.press('Enter')
    await page.getByText('Access token of app').waitFor()
    await page.getByLabel('type in the path').focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('amina')
    expect(await page.locator('[data-sample=typescript] code').textContent()).toContain(
      "client.fhir.read('Patient', 'amina')",
    )
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Body' }).waitFor()
    expect(await page.locator('#answer').textContent()).toMatch(/Status200[\s\S]*"id": "amina"/)
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    const kept =
      'JSON.stringify([location.href, document.cookie, localStorage, sessionStorage, document.documentElement.innerHTML])'
    expect(await page.evaluate(kept)).not.toContain('eyJ')
    const log = await page.locator('#answer a').getAttribute('href')
    await page.getByRole('link', { name: 'All operations' }).press('Enter')
    await page.getByRole('link', { name: 'Search a resource type', exact: true }).press('Enter')
    await page.getByLabel('Further search parameters').fill('_id=amina')
    await page.getByText('Access token of app').waitFor()
    await page.getByLabel('Further search parameters').press('Enter')
    await page.getByText('"resourceType": "Bundle"').waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.goBack()
    await page.getByRole('heading', { name: 'SDK' }).waitFor()
    await page.getByText('Access token of app').waitFor()
    await page.goto(log!)
    await page.locator('tbody a').first().press('Enter')
    await page.getByText('/api/fhir/R4/{type}/{id}').waitFor()
    await page.getByRole('link', { name: 'What this request did' }).press('Enter')
    await page.waitForURL('**/portal/audit?request=*')
    expect(await page.locator('tbody tr').count()).toBe(1)
  })

  test('the keyboard filters the request log, and the console works with a wrong scope and without scripts', async () => {
    const page = await signedIn()
    await page.goto('/portal/requests')
    await page.getByLabel('Error code').focus()
    await page.keyboard.type('NOT_F')
    await page.getByLabel('Request id').press('Enter')
    await page.waitForURL('**code=NOT_FOUND**')
    expect(await page.locator('dt#NOT_FOUND').count()).toBe(1)
    await page.goto('/portal/console/read')
    await page.getByText('Get a token').first().press('Enter')
    await page.getByLabel('Scopes').fill('labs:reed')
    await page.getByLabel('Scopes').press('Enter')
    await page.getByText('There is no scope labs:reed').waitFor()
    const plain = await signedIn({ javaScriptEnabled: false })
    await plain.goto('/portal/console/read')
    await plain.getByLabel('id in the path').fill('amina')
    await plain.getByRole('button', { name: 'Show the samples' }).click()
    expect(await plain.getByText("client.fhir.read('Patient', 'amina')").count()).toBe(1)
    expect(plain.url()).not.toContain('amina')
  })

  test('the keyboard alone looks further back, reads a curve as a table, and restores the demo data', async () => {
    const page = await signedIn({ viewport: { width: 360, height: 740 } })
    await page.goto('/portal/operations')
    const curves = page.getByRole('img')
    await curves.first().waitFor()
    expect(await curves.count()).toBe(5)
    expect(await page.locator('.curve canvas').count()).toBe(5)
    const drawn = `(() => { const { width, height } = document.querySelector('.curve canvas'); return width > 100 && height > 100 })()`
    expect(await page.evaluate(drawn)).toBe(true)
    await page.getByRole('link', { name: '24 hours' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/portal/operations?hours=24')
    const table = page.locator('.curve .cards-on-phones').first()
    expect(await table.isVisible()).toBe(false)
    await page.getByText('As a table').first().focus()
    await page.keyboard.press('Enter')
    expect(await table.isVisible()).toBe(true)
    expect(await violations(page)).toEqual([])
    await page.getByLabel('What was stored about the demo patients').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Demo data restored' }).waitFor()
    expect(await violations(page)).toEqual([])
  })

  test('figures read as tables without scripts', async () => {
    const page = await signedIn({ javaScriptEnabled: false })
    await page.goto('/portal/operations')
    await page.getByText('As a table').first().click()
    expect(await page.locator('.curve .cards-on-phones').first().getByRole('cell').count()).toBeGreaterThan(2)
  })

  test('nothing breaks the policy of the page or logs an error, and a name that is markup runs nothing', async () => {
    const page = await signedIn()
    const said: string[] = []
    page.on('console', message => void said.push(message.text()))
    page.on('pageerror', error => void said.push(error.message))
    for (const path of pages().filter(each => !each.endsWith('_none'))) await page.goto(path)
    expect(said).toEqual([])
    expect(await page.title()).not.toBe('stolen')
  })
})
