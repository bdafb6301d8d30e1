// The workbench of informaticists: lists, editor, saving, examples, history, concept maps, weights and consent types.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { copyMaps } from '../../support/maps.ts'
import { ask, fieldsIn, type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startBeside, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { databaseOf } from '../../support/trail.ts'

let folder: string
let service: Service
let trail: pg.Client
let user: PortalUser
let developer: PortalUser

beforeAll(async () => {
  folder = await temporaryFolder('maps')
  await copyMaps(folder)
  service = await startService({ MAPPINGS_DIR: folder })
  trail = await databaseOf(service)
  user = await portalUser(service, ['informaticist'])
  developer = await portalUser(service, ['developer'])
})

const allergy = '/portal/maps/allergy-to-fhir'

/** The fields of the editor as a browser reads them. */
async function fieldsOf(path: string): Promise<Record<string, string>> {
  const { text } = await user.get(path)
  return fieldsIn(text)
}

const fileOf = (name: string) => readFile(join(folder, name), 'utf8')

async function live(what: string, body: object, who = user) {
  const answer = await fetch(`${service.url}/portal/workbench/${what}`, {
    method: 'POST',
    headers: { cookie: who.cookie, origin: service.url, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: what came back is compared below
  return { status: answer.status, body: (await answer.json()) as any }
}

async function trying(map: string, more: object) {
  const { text, examples = '', input = '', context = '' } = await fieldsOf(`/portal/maps/${map.replaceAll('/', '~')}`)
  return live('try', { map, text, examples, input, context, run: '', ...more })
}

async function onRecord(answer: { readonly headers: Headers }) {
  const { rows } = await trail.query('select client_id, query, outcome from audit_event where request_id = $1', [
    answer.headers.get('x-request-id'),
  ])
  return rows
}

describe('the list of maps', () => {
  test('shows what each translates, what it covers and how its examples fare', async () => {
    const { status, text } = await user.get('/portal/maps')
    expect(status).toBe(200)
    const row = text.split('<tr>').find(each => each.includes('>allergy-to-fhir<'))!
    expect(row).toContain('AllergyRecord → AllergyIntolerance')
    expect(row).toContain('7 / 7')
    expect(row).toContain('5 / 5')
    expect(text).toContain('hl7v2~oru-r01-to-fhir')
  })

  test('is for informaticists, by every address', async () => {
    for (const path of [
      '/portal/maps',
      allergy,
      `${allergy}/history`,
      '/portal/concept-maps',
      '/portal/matching',
      '/portal/consent-types',
    ])
      expect([path, (await developer.get(path)).status]).toEqual([path, 403])
    const fields = await fieldsOf(allergy)
    expect((await developer.post(allergy, { ...fields, do: 'save' })).status).toBe(403)
    expect((await developer.post(`${allergy}/revert`, { version: '1', basis: '' })).status).toBe(403)
    expect((await developer.post('/portal/maps', { name: 'a', from: 'Patient', to: 'Patient' })).status).toBe(403)
    for (const what of ['try', 'complete', 'explain', 'matching', 'consenttypes'])
      expect([what, (await live(what, {}, developer)).status]).toEqual([what, expect.toBeOneOf([422, 403])])
    const place = { map: 'allergy-to-fhir', text: fields['text']!, offset: 0 }
    expect((await live('complete', place, developer)).status).toBe(403)
    expect((await live('complete', place, { ...user, cookie: '' })).status).toBe(401)
  })
})

test('answers no script of another origin, and puts no keystroke on record', async () => {
  const fields = await fieldsOf(allergy)
  const body = JSON.stringify({ map: 'allergy-to-fhir', text: fields['text'], offset: 0 })
  const asked = (origin: string) =>
    fetch(`${service.url}/portal/workbench/complete`, {
      method: 'POST',
      headers: { cookie: user.cookie, origin, 'content-type': 'application/json' },
      body,
    })
  expect((await asked('https://elsewhere.example')).status).toBe(403)
  const own = await asked(service.url)
  expect(own.status).toBe(200)
  expect(await onRecord(own)).toEqual([])
})

describe('the editor', () => {
  test('shows the map with its first example and what it makes of it, without scripts', async () => {
    const { text } = await user.get(allergy)
    expect(fieldsIn(text)['text']).toBe(await fileOf('allergy-to-fhir.fml'))
    expect(fieldsIn(text)['input']).toContain('Pénicilline G')
    expect(text).toContain('&quot;resourceType&quot;: &quot;AllergyIntolerance&quot;')
    expect(text).toContain('5 of 5 pass')
    expect(text).toContain('No problems')
  })

  test('runs another input, and says where a map stops', async () => {
    const fields = await fieldsOf(allergy)
    const input = fields['input']!.replace('life_threatening', 'lethal')
    const { text } = await user.post(allergy, { ...fields, input, do: 'run' })
    expect(text).toContain('`lethal` has no translation')
    expect(text).toContain('AllergyRecord.severity')
    expect(fieldsIn(text)['input']).toBe(input)
  })

  test('loads the input of an example', async () => {
    const fields = await fieldsOf(allergy)
    const [, second] = JSON.parse(fields['examples']!)
    const { text } = await user.post(allergy, { ...fields, do: `load:${second.name}` })
    expect(JSON.parse(fieldsIn(text)['input']!)).toEqual(second.from)
  })

  test('names problems with their line and their fix, as a map is written', async () => {
    const { text } = await fieldsOf(allergy)
    const { body } = await trying('allergy-to-fhir', { text: text!.replace('src.substance as', 'src.substanse as') })
    expect(body.problems).toMatchObject([
      { severity: 'error', message: expect.stringContaining('did you mean `substance`?'), fix: { text: 'substance' } },
    ])
    expect(text!.slice(body.problems[0].fix.from, body.problems[0].fix.to)).toBe('substance')
    expect(body.panels.problems).toContain('allergy-to-fhir.fml:58:7')
    expect(body.panels.problems).not.toContain(folder)
  })

  test('counts the rules that ran, and shows failing examples as a difference', async () => {
    const { text } = await fieldsOf(allergy)
    const { body } = await trying('allergy-to-fhir', { text: text!.replace('s:severe - t:high', 's:severe - t:low') })
    const lines = text!.split('\n')
    const idle = body.rules.filter((each: { count: number }) => each.count === 0)
    expect(idle.map((each: { line: number }) => lines[each.line - 1]!.trim())).toEqual([
      "src.status where ($this = 'entered_in_error') ->",
    ])
    expect(body.rules.length).toBeGreaterThan(8)
    expect(lines[body.rules[0].line - 1]).toContain('src.id')
    expect(body.panels.examples).toContain('<span class="removed">-  &quot;criticality&quot;: &quot;high&quot;')
    expect(body.panels.coverage).toContain('AllergyRecord.created_at')
  })

  test('takes messages of HL7 v2', async () => {
    const { body } = await trying('hl7v2/oru-r01-to-fhir', {})
    expect(body.panels.output).toContain('&quot;resourceType&quot;: &quot;Bundle&quot;')
    const { body: shared } = await trying('hl7v2/datatypes', { run: 'hl7v2/oru-r01-to-fhir', input: 'MSH|nonsense' })
    expect(shared.runnable).toContain('hl7v2/oru-r01-to-fhir')
    expect(shared.panels.output).toContain('class="failure"')
  })

  test('completes and explains names', async () => {
    const { text } = await fieldsOf(allergy)
    const offset = text!.indexOf('src.substance') + 4
    const completed = await live('complete', { map: 'allergy-to-fhir', text, offset })
    expect(completed.body.options.map((each: { label: string }) => each.label)).toContain('severity')
    const explained = await live('explain', { map: 'allergy-to-fhir', text, offset })
    expect(explained.body).toMatchObject({ title: 'AllergyRecord.substance : string 1..1' })
  })

  test('shows hostile maps and examples as text', async () => {
    const fields = await fieldsOf(allergy)
    const hostile = '</textarea><script>alert(1)</script>'
    const { text } = await user.post(allergy, {
      ...fields,
      text: `// ${hostile}\n${fields['text']}`,
      input: hostile,
      do: 'run',
    })
    expect(text).not.toContain('<script>alert')
    const { body } = await trying('allergy-to-fhir', { input: hostile, text: `${hostile} ${fields['text']}` })
    for (const piece of Object.values(body.panels)) expect(piece).not.toContain('<script')
  })
})

describe('saving', () => {
  test('writes the map in its layout, serves it at once, and has its author on record', async () => {
    const fields = await fieldsOf('/portal/maps/vital-sign-to-fhir')
    const read = fields['text']!.replace(/\/\/\/ title = '([^']*)'/, "/// title = '$1, read twice'")
    const text = read.replace(' -> tgt.id;', '   ->   tgt.id;')
    const answer = await user.post('/portal/maps/vital-sign-to-fhir', { ...fields, text, do: 'save' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/portal/maps/vital-sign-to-fhir?saved=yes'])
    expect(await fileOf('vital-sign-to-fhir.fml')).toBe(read)
    const maps = await fetch(`${service.url}/api/fhir/R4/StructureMap/vital-sign-to-fhir`, {
      headers: { authorization: `Bearer ${service.token}` },
    })
    expect(JSON.stringify(await maps.json())).toContain('read twice')
    const { text: history } = await user.get('/portal/maps/vital-sign-to-fhir/history')
    expect(history).toContain(user.email)
    expect(history).toContain('in the folder')
    expect(await onRecord(answer)).toEqual([
      {
        client_id: expect.stringMatching(/^user\//),
        query: expect.stringContaining('maps/vital-sign-to-fhir'),
        outcome: 0,
      },
    ])
  })

  test('refuses a folder that would be broken, keeps what was written, and has the refusal on record', async () => {
    const fields = await fieldsOf(allergy)
    const before = await fileOf('allergy-to-fhir.fml')
    const broken = fields['text']!.replace('src.substance as', 'src.substanse as')
    const answer = await user.post(allergy, { ...fields, text: broken, do: 'save' })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('nothing was saved')
    expect(answer.text).toContain('allergy-to-fhir.fml:58:7')
    expect(fieldsIn(answer.text)['text']).toBe(broken)
    expect(await fileOf('allergy-to-fhir.fml')).toBe(before)
    expect(await onRecord(answer)).toMatchObject([{ outcome: 4 }])
  })

  test('refuses a map that breaks another one', async () => {
    const fields = await fieldsOf('/portal/maps/hl7v2~people')
    const group = /group (\w+)\(/.exec(fields['text']!)![1]!
    const text = fields['text']!.replace(`group ${group}(`, `group ${group}Renamed(`)
    const { status, text: page } = await user.post('/portal/maps/hl7v2~people', { ...fields, text, do: 'save' })
    expect([status, page.includes(`there is no group \`${group}\``)]).toEqual([422, true])
  })

  test('saves a map whose examples fail only if its author says so', async () => {
    const path = '/portal/maps/blood-unit-to-fhir'
    const fields = await fieldsOf(path)
    const examples = fields['examples']!.replace(/"name": "/, '"name": "still: ').replace(
      /"id": "[^"]+"/,
      '"id": "other"',
    )
    const refused = await user.post(path, { ...fields, examples, do: 'save' })
    expect([refused.status, refused.text.includes('Examples fail')]).toEqual([422, true])
    const saved = await user.post(path, { ...fields, examples, may_fail: 'yes', do: 'save' })
    expect(saved.status).toBe(303)
    const back = await user.post(path, { ...(await fieldsOf(path)), examples: fields['examples']!, do: 'save' })
    expect(back.status).toBe(303)
  })

  test('refuses a change of a file that somebody else has changed since', async () => {
    const path = '/portal/maps/payment-to-fhir'
    const fields = await fieldsOf(path)
    await writeFile(join(folder, 'payment-to-fhir.fml'), `// Changed by hand.\n${fields['text']}`)
    const answer = await user.post(path, { ...fields, text: `// Mine.\n${fields['text']}`, do: 'save' })
    expect([answer.status, answer.text.includes('changed by another user')]).toEqual([409, true])
    expect(fieldsIn(answer.text)['text']).toContain('// Mine.')
    expect(await fileOf('payment-to-fhir.fml')).toContain('// Changed by hand.')
  })

  test('of two authors at once one is refused', async () => {
    const path = '/portal/maps/stock-to-fhir'
    const fields = await fieldsOf(path)
    const saves = ['// One.', '// Two.'].map(line =>
      user.post(path, { ...fields, text: `${line}\n${fields['text']}`, do: 'save' }),
    )
    expect((await Promise.all(saves)).map(({ status }) => status).toSorted()).toEqual([303, 409])
  })

  test('shows what was saved through another process at once', async () => {
    const beside = await startBeside(service, { MAPPINGS_DIR: folder })
    const path = '/portal/maps/visit-to-fhir'
    const there = () => ask(beside.url + path, { headers: { cookie: user.cookie } })
    expect((await there()).status).toBe(200)
    for (const line of ['// First.', '// Second.']) {
      const fields = await fieldsOf(path)
      const text = `${line}\n${fields['text']!.replace(/^\/\/ First\.\n/, '')}`
      expect((await user.post(path, { ...fields, text, do: 'save' })).status).toBe(303)
      const { text: page } = await there()
      expect(fieldsIn(page)['text']).toBe(text)
    }
    await beside.stop()
  })

  test.each(['..~..~etc~passwd', '.hidden', 'Upper', 'a~b~c', 'package.json~x'])('writes no file %s', async name => {
    const fields = await fieldsOf(allergy)
    const answer = await user.post(`/portal/maps/${name}`, {
      text: fields['text']!.replaceAll('AllergyToFhir', 'Other').replace('/allergy-to-fhir', '/other'),
      basis: '',
      do: 'save',
    })
    expect([name, answer.status]).toEqual([name, 422])
  })

  test('gives the change as a patch', async () => {
    const fields = await fieldsOf(allergy)
    const answer = await user.post(allergy, {
      ...fields,
      text: fields['text']!.replace('An allergy as', 'An allergy, as'),
      do: 'patch',
    })
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="allergy-to-fhir.patch"')
    expect(answer.text).toContain('--- a/mappings/allergy-to-fhir.fml\n+++ b/mappings/allergy-to-fhir.fml\n@@ -1,')
    expect(answer.text).toContain('-// An allergy as')
    expect(answer.text).toContain('+// An allergy, as')
    expect(answer.text).not.toContain('examples.json')
  })
})

describe('examples', () => {
  test('are made of what came in and out, and saved with the map', async () => {
    const path = '/portal/maps/diagnosis-to-fhir'
    const fields = await fieldsOf(path)
    const input = JSON.stringify({ ...JSON.parse(fields['input']!), id: 'made-in-the-portal' })
    const added = await user.post(path, { ...fields, input, example_name: 'made in the portal', do: 'example' })
    const now = fieldsIn(added.text)
    expect(JSON.parse(now['examples']!).at(-1)).toMatchObject({
      name: 'made in the portal',
      from: { id: 'made-in-the-portal' },
      to: { resourceType: 'Condition', id: 'made-in-the-portal' },
    })
    expect(now['examples']!.startsWith(fields['examples']!.trimEnd().slice(0, -2).trimEnd())).toBe(true)
    expect((await user.post(path, { ...now, do: 'save' })).status).toBe(303)
    expect(await fileOf('diagnosis-to-fhir.examples.json')).toBe(now['examples'])
    const again = await user.post(path, { ...now, example_name: 'made in the portal', do: 'example' })
    expect([again.status, again.text.includes('already')]).toEqual([422, true])
  })
})

test('an example of a map that makes ids passes as soon as it is added', async () => {
  const path = '/portal/maps/hl7v2~oru-r01-to-fhir'
  const fields = await fieldsOf(path)
  const count = JSON.parse(fields['examples']!).length
  const { status, text } = await user.post(path, { ...fields, example_name: 'added here', do: 'example' })
  expect([status, text.includes(`${count + 1} of ${count + 1} pass`)]).toEqual([200, true])
})

describe('a new map', () => {
  test('begins as a draft between two types, and is in the list once it is saved', async () => {
    const drafted = await user.post('/portal/maps', {
      name: 'ward-allergy',
      from: 'AllergyRecord',
      to: 'AllergyIntolerance',
    })
    expect(drafted.status).toBe(200)
    const fields = fieldsIn(drafted.text)
    expect(fields['text']).toContain('uses "https://health-interop.org/fhir/StructureDefinition/AllergyRecord"')
    await expect(fileOf('ward-allergy.fml')).rejects.toThrow('ENOENT')
    const { text } = await fieldsOf(allergy)
    const own = text!.replaceAll('allergy-to-fhir', 'ward-allergy').replaceAll('AllergyToFhir', 'WardAllergy')
    expect((await user.post('/portal/maps/ward-allergy', { ...fields, text: own, do: 'save' })).status).toBe(303)
    expect((await user.get('/portal/maps')).text).toContain('>ward-allergy<')
    const taken = await user.post('/portal/maps', { name: 'ward-allergy', from: 'Patient', to: 'Patient' })
    expect(taken.status).toBe(409)
    expect((await user.post('/portal/maps', { name: 'other', from: 'Pacient', to: 'Patient' })).status).toBe(422)
  })
})

describe('the history', () => {
  test('shows differences, and leads back as a version of its own', async () => {
    const path = '/portal/maps/note-to-document'
    const fields = await fieldsOf(path)
    await user.post(path, { ...fields, text: `// A remark.\n${fields['text']}`, do: 'save' })
    const { text } = await user.get(`${path}/history`)
    const versions = [...text.matchAll(/history\?version=(\d+)/g)].map(([, id]) => id!)
    expect(versions).toHaveLength(2)
    const compared = await user.get(`${path}/history?version=${versions[1]}`)
    expect(compared.text).toContain('<span class="added">+// A remark.</span>')
    const basis = /name="basis" value="(\w+)"/.exec(compared.text)![1]!
    const answer = await user.post(`${path}/revert`, { version: versions[1]!, basis })
    expect([answer.status, await fileOf('note-to-document.fml')]).toEqual([303, fields['text']])
    expect((await user.get(`${path}/history`)).text.match(/history\?version=/g)).toHaveLength(3)
    expect((await user.get(`${path}/history?version=999999`)).status).toBe(404)
    expect((await user.get(`${allergy}/history?version=${versions[0]}`)).status).toBe(404)
  })
})

describe('concept maps', () => {
  test('are found by code, and say which codes are missing', async () => {
    const { text } = await user.get('/portal/concept-maps?text=life_threatening')
    expect(text).toContain('<code>#criticality</code>')
    expect(text).not.toContain('<code>s:mild</code>')
    const { text: map } = await fieldsOf(allergy)
    await writeFile(
      join(folder, 'ward-codes.fml'),
      map!.replaceAll('allergy-to-fhir', 'ward-codes').replace('  s:moderate - t:low\n', ''),
    )
    await expect
      .poll(async () => (await user.get('/portal/concept-maps?missing=yes')).text)
      .toContain('<code>moderate</code>')
    await rm(join(folder, 'ward-codes.fml'))
  })
})

describe('weights and consent types', () => {
  test('two people have a score with its reasons, by the weights that are written and by those in force', async () => {
    const { text, basis } = await fieldsOf('/portal/matching')
    const twin = {
      given_1: 'Amina',
      family_1: 'Ngo',
      birth_date_1: '1990-04-12',
      given_2: 'Amina',
      family_2: 'Ngo',
      birth_date_2: '1990-04-12',
    }
    const { body } = await live('matching', {
      text: text!.replace('"certainty": 0.99', '"certainty": 0.999999999'),
      people: '1000000',
      ...twin,
    })
    const [these, inForce] = body.panels.effect.split('Weights in force')
    expect([these.includes('manual review'), these.includes('given: same'), inForce.includes('bits')]).toEqual([
      true,
      true,
      true,
    ])
    const wrong = await user.post('/portal/matching', {
      text: text!.replace('"certainty": 0.99', '"certainty": 2'),
      basis: basis!,
      do: 'save',
    })
    expect([wrong.status, wrong.text.includes('decision.certainty')]).toEqual([422, true])
  })

  test('a consent type that is saved is one that clients can use', async () => {
    const { text, basis } = await fieldsOf('/portal/consent-types')
    const type =
      '"immunizations": { "title": "Vaccinations", "meaning": "Your vaccinations.", "opens": ["Immunization"] },'
    const changed = text!.replace('"types": {', `"types": { ${type}`)
    const { body } = await live('consenttypes', { text: changed })
    expect(body.panels.effect).toMatch(/<code>immunizations<\/code>.*\n.*Immunization.*\n.*new/)
    const wrong = await live('consenttypes', { text: changed.replace('["Immunization"]', '["Immunisation"]') })
    expect(wrong.body.problems).toMatchObject([{ message: expect.stringContaining('did you mean `Immunization`') }])
    expect((await user.post('/portal/consent-types', { text: changed, basis: basis!, do: 'save' })).status).toBe(303)
    const { body: list } = await fetch(`${service.url}/api/v1/connect/consent-types`, {
      headers: { authorization: `Bearer ${service.token}` },
    }).then(async answer => ({ body: JSON.stringify(await answer.json()) }))
    expect(list).toContain('immunizations')
  })
})
