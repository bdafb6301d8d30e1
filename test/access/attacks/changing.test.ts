// Changes, conditions and repeated requests by which somebody may try to learn of a patient who has opened nothing, or to take what is not theirs.
import { describe, expect, test } from 'vitest'
import { ended, ordered } from '../../support/bulk.ts'
import { consentOf } from '../../support/consents.ts'
import { matchIds } from '../../support/fhir.ts'
import { about, bundle, declared, json, observation, patchJson, read, shut, startScene } from './scene.ts'

const scene = startScene()
const { asClinic, call, mint, store } = scene

describe('changes tell nothing and do nothing', () => {
  test.each([
    ['PUT', { 'if-match': 'W/"1"' }],
    ['PUT', { 'if-match': 'W/"9"' }],
    ['PUT', { 'if-none-match': '*' }],
    ['PUT', {}],
    ['DELETE', {}],
    ['DELETE', { 'if-match': 'W/"9"' }],
    ['PATCH', patchJson],
    ['PATCH', { ...patchJson, 'if-match': 'W/"9"' }],
  ])('%s with %o is the same refusal', async (method, headers) => {
    const body =
      method === 'PUT'
        ? observation('hidden-o', 'open', 'taken')
        : method === 'PATCH'
          ? JSON.stringify([{ op: 'test', path: '/note/0/text', value: 'secret' }])
          : undefined
    const answer = await asClinic(method, 'Observation/hidden-o', {
      body,
      headers: { ...json, ...(headers as object) },
    })
    expect([answer.status, answer.body.error_code, answer.headers.get('etag')]).toEqual([403, 'CONSENT_REQUIRED', null])
    expect((await call('GET', 'Observation/hidden-o')).body.meta.versionId).toBe('1')
  })

  test('a condition finds what is hidden as little as what is not there', async () => {
    const reference = (query: string) => ({
      resource: { resourceType: 'Basic', code: { text: 'x' }, subject: { reference: `Patient?${query}` } },
      request: { method: 'POST', url: 'Basic' },
    })
    const answers = await Promise.all(
      [`identifier=${scene.healthId}`, 'identifier=nobody', 'name=Ngassamoukoko', '_id=hidden'].map(query =>
        asClinic('POST', '', { body: bundle('transaction', reference(query)), headers: json }),
      ),
    )
    for (const { status, body } of answers) expect([status, body.message]).toEqual([412, answers[1]!.body.message])
  })

  test('an update where something matches creates something else', async () => {
    const { id: _id, ...fresh } = observation('', 'hidden', 'own')
    const { status, body } = await asClinic('PUT', 'Observation?patient=hidden&code=718-7', { body: fresh })
    expect([status, body.id === 'hidden-o']).toEqual([201, false])
    expect((await asClinic('DELETE', `Observation/${body.id}`)).status).toBe(204)
    const named = await asClinic('PUT', 'Observation?patient=hidden&code=718-7', {
      body: { ...fresh, id: 'hidden-o' },
    })
    expect(named.status).toBe(403)
  })

  test('who comes back under the id of something deleted does not see what that was', async () => {
    await store(observation('gone', 'hidden', 'secret'))
    await call('DELETE', 'Observation/gone')
    expect((await asClinic('GET', 'Observation/gone/_history')).body.entry).toBeUndefined()
    expect((await asClinic('PUT', 'Observation/gone', { body: observation('gone', 'hidden', 'own') })).status).toBe(201)
    for (const path of ['Observation/gone/_history', 'Observation/_history', '_history?_at=2026'])
      expect(JSON.stringify((await asClinic('GET', path)).body.entry)).not.toMatch(shut)
    expect((await asClinic('GET', 'Observation/gone/_history/1')).status).toBe(404)
    expect((await asClinic('GET', 'Observation/gone/_history/3')).status).toBe(200)
  })

  test('what had a code that the patient withholds is not shown by having another now', async () => {
    const coded = (code: string, note: string) =>
      observation('recoded', 'part', note, { code: { coding: [{ system: 'http://loinc.org', code }] } })
    const withheld = { type: 'deny', code: [{ coding: [{ system: 'http://loinc.org', code: '75622-1' }] }] }
    await store({ resourceType: 'Patient', id: 'part' }, coded('75622-1', 'secret'))
    await store(consentOf('part-consent', 'part', 'clinic', { provision: [withheld] }))
    expect((await asClinic('GET', 'Observation/recoded')).status).toBe(403)
    await call('PUT', 'Observation/recoded', { body: coded('718-7', 'another') })
    expect((await asClinic('GET', 'Observation/recoded')).status).toBe(200)
    expect((await asClinic('GET', 'Observation/recoded/_history/1')).status).toBe(404)
    const { body } = await asClinic('GET', 'Observation/recoded/_history')
    expect(body.entry).toHaveLength(1)
    expect(JSON.stringify(body)).not.toMatch(shut)
  })

  test('what is moved to somebody else is gone with the move', async () => {
    await store(observation('moved', 'open', 'first'))
    await call('PUT', 'Observation/moved', { body: observation('moved', 'hidden', 'secret') })
    expect((await asClinic('GET', 'Observation/moved')).status).toBe(403)
    expect((await asClinic('GET', 'Observation/moved/_history/2')).status).toBe(403)
    expect((await asClinic('PUT', 'Observation/moved', { body: observation('moved', 'open', 'x') })).status).toBe(403)
    await call('DELETE', 'Observation/moved')
    expect((await asClinic('GET', 'Observation/moved/_history')).text).not.toMatch(shut)
  })

  test('whose it is cannot be told apart from what nobody knows', async () => {
    await store(
      { resourceType: 'Device', id: 'known-by-number', patient: { identifier: { system: 'http://x', value: '1' } } },
      { resourceType: 'Device', id: 'known-by-name', patient: { display: 'Philomène' } },
      { resourceType: 'Device', id: 'of-nobody', owner: { display: 'The hospital' } },
      {
        resourceType: 'Group',
        id: 'known-by-name',
        type: 'person',
        actual: true,
        member: [{ entity: { display: 'Philomène' } }],
      },
      { resourceType: 'Group', id: 'of-things', type: 'device', actual: true, member: [{ entity: { display: 'x' } }] },
      {
        resourceType: 'Device',
        id: 'holds-one',
        contained: [{ resourceType: 'Patient', id: 'p' }],
        owner: { reference: '#p' },
      },
      { resourceType: 'Schedule', id: 'elsewhere', actor: [{ reference: 'https://other.example/fhir/Patient/1' }] },
      {
        resourceType: 'Endpoint',
        id: 'extended',
        extension: [{ url: 'http://x', valueReference: about('hidden') }],
        status: 'active',
        connectionType: { code: 'x' },
        payloadType: [{ text: 'x' }],
        address: 'http://x',
      },
      {
        resourceType: 'Linkage',
        id: 'linked',
        item: ['source', 'alternate'].map(type => ({ type, resource: { reference: 'Observation/hidden-o' } })),
      },
      {
        resourceType: 'Bundle',
        id: 'bundled',
        type: 'collection',
        entry: [{ resource: { resourceType: 'Patient', id: 'hidden' } }],
      },
    )
    const ids = async (type: string) => matchIds((await asClinic('GET', type)).body)
    expect(await ids('Device')).toEqual(['of-nobody'])
    expect((await ids('Group')).sort()).toEqual(['of-things', 'own-group'])
    for (const type of ['Schedule', 'Endpoint', 'Linkage', 'Bundle']) expect(await ids(type)).toEqual([])
  })
})

describe('what was told once', () => {
  let keys = 0
  const send = (token: string, key: string, body: object, headers: Record<string, string> = {}) =>
    call('POST', '', { token, body, headers: { 'idempotency-key': key, ...headers } })

  test.each(['batch', 'transaction'])('by a %s is not told again when the consent is over', async type => {
    const [key, patient] = [`key-${++keys}`, `brief-${keys}`]
    await store({ resourceType: 'Patient', id: patient }, observation(`${patient}-o`, patient, 'secret'))
    await store(consentOf(`${patient}-consent`, patient, 'clinic'))
    const basic = { resourceType: 'Basic', code: { text: 'x' } }
    const body = bundle(type, read(`Observation/${patient}-o`), {
      resource: basic,
      request: { method: 'POST', url: 'Basic' },
    })
    const first = await send(scene.clinic, key, body)
    expect(first.text).toContain('secret')
    await call('DELETE', `Consent/${patient}-consent`)
    const again = await send(scene.clinic, key, body)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(again.text).not.toMatch(shut)
    expect(again.body.entry[0].response.outcome.issue[0].code).toBe('suppressed')
    expect(again.body.entry[1]).toEqual(first.body.entry[1])
  })

  test.each(['batch', 'transaction'])('by a patch in a %s is not told again when the consent is over', async type => {
    const [key, patient] = [`key-${++keys}`, `patched-${keys}`]
    await store({ resourceType: 'Patient', id: patient }, observation(`${patient}-o`, patient, 'secret'))
    await store(consentOf(`${patient}-consent`, patient, 'clinic'))
    const data = Buffer.from(JSON.stringify([{ op: 'replace', path: '/status', value: 'amended' }])).toString('base64')
    const resource = { resourceType: 'Binary', contentType: 'application/json-patch+json', data }
    const body = bundle(type, { resource, request: { method: 'PATCH', url: `Observation/${patient}-o` } })
    const first = await send(scene.clinic, key, body, { prefer: 'return=representation' })
    expect([first.status, first.text.includes('secret')]).toEqual([200, true])
    await call('DELETE', `Consent/${patient}-consent`)
    const again = await send(scene.clinic, key, body, { prefer: 'return=representation' })
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(again.text).not.toMatch(shut)
    expect(again.body.entry[0]).toEqual({ response: first.body.entry[0].response })
  })

  test('by a creation that found something is not told again when the consent is over', async () => {
    await store({ resourceType: 'Patient', id: 'found' }, observation('found-o', 'found', 'secret'))
    await store(consentOf('found-consent', 'found', 'clinic'))
    const { id: _id, ...body } = observation('', 'found', 'own')
    const headers = { 'if-none-exist': 'patient=found', 'idempotency-key': 'found' }
    const first = await asClinic('POST', 'Observation', { body, headers })
    expect([first.status, first.body.id]).toEqual([200, 'found-o'])
    await call('DELETE', 'Consent/found-consent')
    const again = await asClinic('POST', 'Observation', { body, headers })
    expect([again.status, shut.test(again.text)]).toEqual([201, false])
    const third = await asClinic('POST', 'Observation', { body, headers })
    expect([third.headers.get('idempotent-replayed'), third.body]).toEqual(['true', again.body])
  })

  test('in an emergency is not told again without one', async () => {
    const token = await mint(`ambulance-${++keys}`, 'ambulance')
    const body = bundle('batch', read('Observation/hidden-o'), read('Patient/hidden'))
    expect((await send(token, 'emergency', body, declared)).text).toContain('secret')
    expect((await send(token, 'emergency', body)).text).not.toMatch(shut)
    expect((await send(token, 'another', body)).text).not.toMatch(shut)
  })

  test('to one client is not told to another of its organisation by the same key', async () => {
    const { id: _id, ...own } = observation('', 'hidden', 'own')
    const options = { body: own, headers: { 'idempotency-key': 'shared' } }
    const made = await asClinic('POST', 'Observation', options)
    const { status, headers } = await call('POST', 'Observation', { token: scene.neighbour, ...options })
    expect([status, headers.get('idempotent-replayed')]).toEqual([201, null])
    expect((await call('GET', `Observation/${made.body.id}`, { token: scene.neighbour })).status).toBe(403)
  })

  test("in a file is for the client that asked for it, and nobody is in it by being in a group of one's own", async () => {
    const address = await ordered(call, 'Group/own-group/$export', { token: scene.clinic })
    const { body } = await ended(call, address, { token: scene.clinic })
    const files = body.output as { type: string; url: string; count: number }[]
    const texts = await Promise.all(
      files.map(async ({ url }) => (await fetch(url, { headers: { authorization: `Bearer ${scene.clinic}` } })).text()),
    )
    expect(texts.join('')).toContain('"id":"open"')
    expect(texts.join('')).not.toMatch(shut)
    for (const token of [scene.neighbour, scene.stranger]) {
      expect((await fetch(files[0]!.url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404)
      expect((await call('GET', address, { token })).status).toBe(404)
    }
  })
})
