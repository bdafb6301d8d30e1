// Possible duplicates in the portal: who sees which pairs, what a merge would leave, and what becomes of a decision.
import { beforeAll, describe, expect, test } from 'vitest'
import { system } from '../../../src/access/caller.ts'
import { createClient } from '../../../src/identity/clients.ts'
import { reviewTask } from '../../../src/mpi/register/review.ts'
import { consentOf } from '../../support/consents.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { rounds } from '../../support/rounds.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { eventsOfRequest } from '../../support/webhooks.ts'
import { connectCaller } from '../connect/support.ts'

let service: Service
let officer: PortalUser
let other: PortalUser
let administrator: PortalUser
let ward: string
let laboratory: string
const call = fhirCaller(() => service)
const { resolve, verify } = connectCaller(() => service)

beforeAll(async () => {
  service = await startService()
  const clientOf = async (id: string, organizationId: string) => {
    await createClient(service.application.database, 'local', { id, name: id, organizationId, scopes: [] })
    const scopes = ['health_id:verify', 'system/*.cruds']
    return service.application.identity.tokens.mint({ clientId: id, organizationId, consentExempt: false }, scopes)
  }
  ward = await clientOf('ward-app', 'hospital-a')
  laboratory = await clientOf('lab-app', 'hospital-b')
  officer = await portalUser(service, ['privacy_officer'])
  other = await portalUser(service, ['privacy_officer'], 'hospital-b')
  administrator = await portalUser(service, ['administrator'], 'elsewhere')
})

let people = 0

interface Registered {
  readonly id: string
  readonly healthId: string
}

interface Pair {
  /** The one that came first. */
  readonly first: Registered
  readonly second: Registered
  readonly task: string
  readonly path: string
}

/** Registers one person twice, with another family name the second time. */
async function registeredTwice(by = ward, thenBy = by, names = ['Njoya', 'Tagne']): Promise<Pair> {
  people++
  const somebody = {
    ...{ first_name: 'Amadou', sex: 'male', phone_number: `+23765544${String(1000 + people * 7)}` },
    date_of_birth: `${1930 + people * 3}-${String(1 + (people % 12)).padStart(2, '0')}-${10 + (people % 15)}`,
  }
  const register = async (last_name: string, token: string): Promise<Registered> => {
    const { body, text } = await resolve({ ...somebody, last_name }, {}, token)
    expect(body.status, text).toBe('created')
    return { id: body.patient_id, healthId: body.health_id }
  }
  const first = await register(names[0]!, by)
  const second = await register(names[1]!, thenBy)
  const { body } = await call('GET', `Task?code=possible-duplicate&focus=Patient/${second.id}`)
  const task = body.entry[0].resource.id
  return { first, second, task, path: `/portal/duplicates/${task}` }
}

/** The fields of a form on a page. */
function fieldsOf(text: string, action: string): Record<string, string> {
  const form = text.split('<form').find(each => each.includes(`action="${action}"`)) ?? ''
  const hidden = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  return Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]))
}

const read = async (id: string, type = 'Patient') => (await call('GET', `${type}/${id}`)).body

async function merge(pair: Pair, keep = 'candidate', user = officer, more: Record<string, string> = {}) {
  const { text } = await user.get(`${pair.path}?keep=${keep}`)
  return user.post(`${pair.path}/merge`, {
    ...{ ...fieldsOf(text, `${pair.path}/merge`), note: 'Same card.' },
    ...more,
  })
}

async function keepApart(pair: Pair, user = officer, more: Record<string, string> = {}) {
  const { text } = await user.get(pair.path)
  return user.post(`${pair.path}/apart`, { ...fieldsOf(text, `${pair.path}/apart`), note: 'Twins.', ...more })
}

describe('a pair', () => {
  test('stands side by side, with what agrees, what differs and what each weighs, as the matcher said it', async () => {
    const pair = await registeredTwice()
    await creatorBy((method, path, options) => call(method, path, { ...options, token: ward }))({
      ...{ resourceType: 'Flag', id: `flag-${pair.first.id}`, status: 'active', code: { text: 'x' } },
      subject: { reference: `Patient/${pair.first.id}` },
    })
    await creatorBy(call)(consentOf(`consent-${pair.first.id}`, pair.first.id, 'hospital-a'))
    const { status, text } = await officer.get(pair.path)
    expect(status).toBe(200)
    const { input } = await read(pair.task, 'Task')
    const reasons = input[0].extension.filter(({ url }: { url: string }) => url.endsWith('match-field'))
    expect(reasons).toHaveLength(5)
    for (const { extension } of reasons) {
      const bits = extension[2].valueDecimal
      const weight = new Intl.NumberFormat('en', { signDisplay: 'always', maximumFractionDigits: 1 }).format(bits)
      expect(text).toContain(`${weight} bits`)
    }
    const plain = text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
    for (const words of [
      'Amadou Tagne',
      'Amadou Njoya',
      'Given name: the same',
      'Family name: different',
      'rules out a match',
      'Birth date: the same',
      pair.first.healthId,
      pair.second.healthId,
      '1 Flag',
      'hospital-a',
      '50% · possible',
    ])
      expect(plain).toContain(words)
    expect((await administrator.get(pair.path)).text).not.toContain('1 Task')
  })

  test('is listed with both names, oldest question first, and its look is on record with both patients', async () => {
    const pair = await registeredTwice()
    const { text, headers } = await officer.get('/portal/duplicates')
    const row = text.split('<tr>').find(each => each.includes(pair.path))!
    expect([row.includes('Amadou Tagne'), row.includes('Amadou Njoya')]).toEqual([true, true])
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows).toMatchObject([{ interaction: 'operation', resource_type: 'Task', query: 'portal/duplicates' }])
    expect(rows[0]!.patients).toEqual(expect.arrayContaining([pair.first.id, pair.second.id]))
    const one = await officer.get(pair.path)
    const [row1] = await rowsOf(await databaseOf(service), one.headers.get('x-request-id')!)
    expect(row1).toMatchObject({ client_id: expect.stringMatching(/^user\//), resource_id: pair.task })
    expect([...row1!.patients].sort()).toEqual([pair.first.id, pair.second.id].sort())
  })

  test('is seen by officers whose organisation created both records, and by administrators', async () => {
    const ours = await registeredTwice()
    const mixed = await registeredTwice(ward, laboratory)
    const theirs = await registeredTwice(laboratory)
    const sees = async (user: PortalUser) => {
      const { text } = await user.get('/portal/duplicates')
      const seen = await Promise.all([ours, mixed, theirs].map(each => user.get(each.path)))
      return [ours, mixed, theirs].map(({ path }, index) => [text.includes(path), seen[index]!.status])
    }
    const [yes, no] = [
      [true, 200],
      [false, 404],
    ]
    expect(await sees(officer)).toEqual([yes, no, no])
    expect(await sees(other)).toEqual([no, no, yes])
    expect(await sees(administrator)).toEqual([yes, yes, yes])
    for (const answer of [await merge(mixed), await keepApart(mixed)]) expect(answer.status).toBe(422)
    const { text } = await administrator.get(`${mixed.path}?keep=subject`)
    for (const act of ['merge', 'apart']) {
      const fields = { ...fieldsOf(text, `${mixed.path}/${act}`), note: 'x' }
      for (const user of [officer, other]) expect((await user.post(`${mixed.path}/${act}`, fields)).status).toBe(404)
    }
    for (const role of ['developer', 'informaticist'] as const) {
      const user = await portalUser(service, [role])
      expect([(await user.get('/portal/duplicates')).status, (await user.get(ours.path)).status]).toEqual([403, 403])
      expect((await keepApart(ours, user)).status).toBe(403)
    }
  })

  test('with names that are markup shows them as text', async () => {
    const pair = await registeredTwice(ward, ward, ['<img src=x onerror=alert(1)>', 'Tagne'])
    for (const path of ['/portal/duplicates', pair.path, `${pair.path}?keep=candidate`]) {
      const { text } = await officer.get(path)
      expect(text).toContain('Amadou &lt;img src=x onerror=alert(1)&gt;')
      expect(text).not.toContain('<img')
    }
  })
})

describe('a merge', () => {
  test('is previewed: which Health ID remains valid, which one leads to it, and nothing is stored', async () => {
    const pair = await registeredTwice()
    const preview = async (keep: string) => {
      const { text } = await officer.get(`${pair.path}?keep=${keep}`)
      const section = text.split('id="preview"')[1]!.split('</section>')[0]!
      const [, valid] = section.split('Valid Health ID')
      const added = section.split('Numbers that are added')[1]!.split('</dd>')[0]!
      return {
        valid: /CM-[-0-9A-Z]+/.exec(valid!)![0],
        former: /CM-[-0-9A-Z]+/.exec(valid!.split('Former')[1]!)![0],
        added: added.match(/CM-[-0-9A-Z]+/g),
      }
    }
    expect(await preview('candidate')).toEqual({
      ...{ valid: pair.first.healthId, former: pair.second.healthId, added: [pair.second.healthId] },
    })
    expect(await preview('subject')).toEqual({
      ...{ valid: pair.second.healthId, former: pair.first.healthId, added: [pair.first.healthId] },
    })
    expect([(await read(pair.first.id)).meta.versionId, (await read(pair.second.id)).meta.versionId]).toEqual([
      '1',
      '1',
    ])
  })

  test.each(['candidate', 'subject'])('leaves the %s, as Patient/$merge does, on record with the user', async keep => {
    const pair = await registeredTwice()
    const { status, headers } = await merge(pair, keep)
    expect([status, headers.get('location')]).toEqual([303, `${pair.path}?with=${pair.first.id}`])
    const [into, from] = keep === 'candidate' ? [pair.first, pair.second] : [pair.second, pair.first]
    expect(await read(from.id)).toMatchObject({ active: false, link: [{ type: 'replaced-by' }] })
    expect(await read(into.id)).toMatchObject({ active: true, link: [{ type: 'replaces' }] })
    expect((await verify(from.healthId)).body).toMatchObject({ status: 'merged', current_health_id: into.healthId })
    const requestId = headers.get('x-request-id')!
    const rows = await rowsOf(await databaseOf(service), requestId)
    const changed = rows.filter(({ action }) => action === 'U').map(row => `${row.resource_type}/${row.resource_id}`)
    expect([...new Set(changed)].sort()).toEqual(
      [`Patient/${pair.first.id}`, `Patient/${pair.second.id}`, `Task/${pair.task}`].sort(),
    )
    expect(rows.every(({ client_id: id }) => id.startsWith('user/'))).toBe(true)
    expect(await eventsOfRequest(service, requestId)).toEqual(['patient.updated', 'patient.updated'])
    const task = await read(pair.task, 'Task')
    expect([task.status, task.note]).toEqual([
      'completed',
      [{ authorString: officer.email, time: expect.any(String), text: 'Same card.' }],
    ])
    const { text } = await officer.get(pair.path)
    expect(text).toContain('Same card.')
    expect(text.match(/(?<=action=")[^"]*duplicates[^"]*/g)).toEqual([`${pair.path}/undo`])
    expect(text).toContain('<span class="state done">merged</span>')
    expect((await officer.get('/portal/duplicates')).text).not.toContain(pair.path)
  })

  test('of records that cannot be merged says why in its preview, and is refused', async () => {
    const pair = await registeredTwice()
    await call('PUT', `Patient/${pair.first.id}`, { body: { ...(await read(pair.first.id)), active: false } })
    const { text } = await officer.get(`${pair.path}?keep=candidate`)
    expect(text).toContain('is not active')
    expect(text).not.toContain(`${pair.path}/merge`)
    const fields = { ...fieldsOf(text, `${pair.path}/apart`), keep: 'candidate', note: 'x' }
    expect((await officer.post(`${pair.path}/merge`, fields)).status).toBe(422)
    expect((await read(pair.task, 'Task')).status).toBe('requested')
  })
})

describe('a merge that is undone', () => {
  const undo = async (pair: Pair, user = officer, more: Record<string, string> = {}) => {
    const { text } = await user.get(pair.path)
    return user.post(`${pair.path}/undo`, { ...fieldsOf(text, `${pair.path}/undo`), note: 'Cousins.', ...more })
  }
  const described = ({ meta: _meta, ...patient }: { meta: unknown }) => patient

  test.each(['candidate', 'subject'])(
    'into the %s leaves two records as they were, on record with the user, and not in question',
    async keep => {
      const pair = await registeredTwice()
      const before = [await read(pair.first.id), await read(pair.second.id)]
      expect((await merge(pair, keep)).status).toBe(303)
      const { status, headers } = await undo(pair)
      expect([status, headers.get('location')]).toEqual([303, `${pair.path}?with=${pair.first.id}`])
      expect([await read(pair.first.id), await read(pair.second.id)].map(described)).toEqual(before.map(described))
      for (const { healthId } of [pair.first, pair.second])
        expect((await verify(healthId)).body).toMatchObject({ status: 'verified', valid: true })
      const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
      expect(rows.filter(({ action }) => action === 'U').every(({ client_id: id }) => id.startsWith('user/'))).toBe(
        true,
      )
      const task = await read(pair.task, 'Task')
      expect([task.status, task.output.length, task.note.at(-1).text]).toEqual(['completed', 1, 'Cousins.'])
      const { text } = await officer.get(pair.path)
      expect(text).toContain('<span class="state done">kept apart</span>')
      expect(text).not.toContain(`${pair.path}/undo`)
    },
  )

  test('leaves the question open about other candidates', async () => {
    const pair = await registeredTwice()
    const { body } = await resolve({ ...(await asBody(pair.first.id)), last_name: 'Bekolo' }, {}, ward)
    const found = await call('GET', `Task?code=possible-duplicate&focus=Patient/${body.patient_id}`)
    const path = `/portal/duplicates/${found.body.entry[0].resource.id}`
    const { text } = await officer.get(`${path}?with=${pair.first.id}&keep=candidate`)
    expect((await officer.post(`${path}/merge`, { ...fieldsOf(text, `${path}/merge`), note: 'x' })).status).toBe(303)
    const merged = (await officer.get(`${path}?with=${pair.first.id}`)).text
    expect((await officer.post(`${path}/undo`, { ...fieldsOf(merged, `${path}/undo`), note: 'x' })).status).toBe(303)
    expect((await officer.get('/portal/duplicates')).text).toContain(path)
    expect((await officer.get(`${path}?with=${pair.second.id}`)).text).toContain(`${path}/apart`)
  })

  test('is refused for others, where the records have changed, and where there is nothing to undo', async () => {
    const pair = await registeredTwice()
    const fields = fieldsOf((await officer.get(pair.path)).text, `${pair.path}/apart`)
    expect((await officer.post(`${pair.path}/undo`, { ...fields, note: 'x' })).status).toBe(409)
    await merge(pair)
    const seen = fieldsOf((await officer.get(pair.path)).text, `${pair.path}/undo`)
    const stranger = await portalUser(service, ['privacy_officer'], 'hospital-z')
    expect((await stranger.post(`${pair.path}/undo`, { ...seen, note: 'x' })).status).toBe(404)
    await call('PUT', `Patient/${pair.first.id}`, {
      body: { ...(await read(pair.first.id)), maritalStatus: { text: 'x' } },
    })
    expect((await officer.post(`${pair.path}/undo`, { ...seen, note: 'x' })).status).toBe(409)
    expect((await verify(pair.second.healthId)).body.status).toBe('merged')
    expect((await undo(pair)).status).toBe(303)
  })
})

describe('two that are kept apart', () => {
  test('are asked about no more, with the note of the user', async () => {
    const pair = await registeredTwice()
    expect((await keepApart(pair)).status).toBe(303)
    const task = await read(pair.task, 'Task')
    expect(task).toMatchObject({
      status: 'completed',
      note: [{ authorString: officer.email, text: 'Twins.' }],
      output: [
        { type: { coding: [{ code: 'kept-apart' }] }, valueReference: { reference: `Patient/${pair.first.id}` } },
      ],
    })
    expect((await officer.get('/portal/duplicates')).text).not.toContain(pair.path)
    expect((await officer.get(pair.path)).text).toContain('kept apart')
    expect((await read(pair.first.id)).meta.versionId).toBe('1')
  })

  test('of several leave the question open for the others', async () => {
    const pair = await registeredTwice()
    const { body } = await resolve({ ...(await asBody(pair.first.id)), last_name: 'Bekolo' }, {}, ward)
    const found = await call('GET', `Task?code=possible-duplicate&focus=Patient/${body.patient_id}`)
    const { id, input } = found.body.entry[0].resource
    expect(input).toHaveLength(2)
    const path = `/portal/duplicates/${id}`
    const decide = async (candidate: string, act: 'apart' | 'merge') => {
      const { text } = await officer.get(`${path}?with=${candidate}&keep=subject`)
      return officer.post(`${path}/${act}`, { ...fieldsOf(text, `${path}/${act}`), note: 'x' })
    }
    const before = (await officer.get(`${path}?with=${pair.second.id}&keep=subject`)).text
    expect((await decide(pair.first.id, 'apart')).status).toBe(303)
    expect((await read(id, 'Task')).status).toBe('requested')
    const stale = { ...fieldsOf(before, `${path}/merge`), note: 'x' }
    expect((await officer.post(`${path}/merge`, stale)).status).toBe(409)
    const current = fieldsOf((await officer.get(path)).text, `${path}/apart`)
    const settled = { ...current, candidate: pair.first.id, note: 'x' }
    expect((await officer.post(`${path}/apart`, settled)).status).toBe(409)
    expect((await officer.get(path)).text).toContain(`value="${pair.second.id}"`)
    expect((await decide(pair.second.id, 'merge')).status).toBe(303)
    expect((await read(id, 'Task')).status).toBe('completed')
  })

  test('may be deleted records', async () => {
    const pair = await registeredTwice()
    await call('DELETE', `Patient/${pair.first.id}`)
    const { text } = await administrator.get(`${pair.path}?keep=candidate`)
    expect([text.includes('deleted'), text.includes(`${pair.path}/merge`)]).toEqual([true, false])
    const fields = { ...fieldsOf(text, `${pair.path}/apart`), keep: 'subject', note: 'x' }
    for (const keep of ['subject', 'candidate'])
      expect((await administrator.post(`${pair.path}/merge`, { ...fields, keep })).status).toBe(422)
    expect((await keepApart(pair, administrator)).status).toBe(303)
  })
})

/** The demographics of a patient, as they are sent to be registered. */
async function asBody(id: string) {
  const { name, birthDate, gender, telecom } = await read(id)
  return { first_name: name[0].given[0], date_of_birth: birthDate, sex: gender, phone_number: telecom[0].value }
}

describe('a decision is refused', () => {
  test('if somebody decided meanwhile', async () => {
    const pair = await registeredTwice()
    const { text } = await officer.get(`${pair.path}?keep=candidate`)
    expect((await keepApart(pair, administrator)).status).toBe(303)
    for (const act of ['merge', 'apart']) {
      const fields = { ...fieldsOf(text, `${pair.path}/${act}`), note: 'x' }
      const refused = await officer.post(`${pair.path}/${act}`, fields)
      expect([refused.status, refused.text.includes('Another user decided this meanwhile')]).toEqual([409, true])
    }
    expect((await read(pair.second.id)).meta.versionId).toBe('1')
  })

  test.each(['first', 'second'] as const)('if the %s record has changed since it was shown', async which => {
    const pair = await registeredTwice()
    const { text } = await officer.get(`${pair.path}?keep=candidate`)
    const { id } = pair[which]
    await call('PUT', `Patient/${id}`, { body: { ...(await read(id)), gender: 'unknown' } })
    for (const act of ['merge', 'apart']) {
      const fields = { ...fieldsOf(text, `${pair.path}/${act}`), note: 'x' }
      const refused = await officer.post(`${pair.path}/${act}`, fields)
      expect([refused.status, refused.text.includes('has changed since you saw it')]).toEqual([409, true])
    }
    expect(await read(pair.task, 'Task')).toMatchObject({ status: 'requested' })
    expect((await merge(pair)).status).toBe(303)
  })

  test('for all but one of those who decide at once', async () => {
    const pair = await registeredTwice()
    const { text } = await officer.get(`${pair.path}?keep=candidate`)
    const answers = await Promise.all(
      ['merge', 'apart', 'merge', 'apart'].map(act =>
        officer.post(`${pair.path}/${act}`, { ...fieldsOf(text, `${pair.path}/${act}`), note: 'x' }),
      ),
    )
    expect(answers.map(({ status }) => status).filter(status => status === 303)).toHaveLength(1)
    const { output } = await read(pair.task, 'Task')
    expect(output).toHaveLength(1)
    const isMerged = (await read(pair.second.id)).active === false
    expect(output[0].type.coding[0].code).toBe(isMerged ? 'merged-into' : 'kept-apart')
  })

  test('without a note, about another record, or from another origin', async () => {
    const [pair, another] = [await registeredTwice(), await registeredTwice()]
    expect((await merge(pair, 'candidate', officer, { note: '  ' })).status).toBe(422)
    expect((await merge(pair, 'candidate', officer, { keep: 'both' })).status).toBe(422)
    expect((await merge(pair, 'candidate', officer, { candidate: another.first.id })).status).toBe(404)
    expect((await officer.get(`${pair.path}?with=${another.first.id}`)).status).toBe(404)
    const { text } = await officer.get(pair.path)
    const fields = { ...fieldsOf(text, `${pair.path}/apart`), note: 'x' }
    expect((await officer.post(`${pair.path}/apart`, fields, { origin: 'https://evil.example' })).status).toBe(403)
  })
})

test('a Task that a client wrote asks nothing', async () => {
  const pair = await registeredTwice()
  const { id: _id, meta: _meta, ...task } = await read(pair.task, 'Task')
  const { body } = await call('POST', 'Task', { token: ward, body: task })
  expect((await officer.get(`/portal/duplicates/${body.id}`)).status).toBe(404)
  const byExempt = await call('POST', 'Task', { body: task })
  expect((await administrator.get(`/portal/duplicates/${byExempt.body.id}`)).status).toBe(404)
})

test('very many questions come in pages, oldest first, each once, also those among many of others', async () => {
  const pair = await registeredTwice()
  const many = rounds(120, 2500)
  const store = service.application.storeFor(system)
  const likeness = {
    grade: 'possible',
    probability: 0.5,
    score: { bits: 1, parts: [], isBlocked: false, isContradicted: false },
  } as const
  const entries = Array.from({ length: many }, (_, index) => {
    // Later ones are older, so that the pair comes last.
    const at = new Date(Date.UTC(2020, 0, 1, 0, 0, many - index))
    const resource = reviewTask(`${pair.first.id.slice(0, 8)}-${index}`, [{ id: `b-${index}`, ...likeness }], at)
    return { fullUrl: undefined, method: 'POST' as const, type: 'Task', id: undefined, query: undefined, resource }
  })
  for (let at = 0; at < many; at += 500)
    await store.transaction(entries.slice(at, at + 500) as never, () => Promise.resolve(undefined))
  const walk = async (user: PortalUser) => {
    const paths: string[] = []
    let pages = 0
    for (let next: string | undefined = '/portal/duplicates'; next && pages < 1000; pages++) {
      const { text } = await user.get(next)
      paths.push(...[...text.matchAll(/href="(\/portal\/duplicates\/[^"]+)"/g)].map(([, path]) => path!))
      next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    return { paths, pages }
  }
  const all = await walk(administrator)
  expect(new Set(all.paths).size).toBe(all.paths.length)
  expect(all.paths.length).toBeGreaterThan(many)
  expect(all.pages).toBe(Math.ceil(all.paths.length / 25))
  const own = await walk(officer)
  expect(own.paths).toContain(pair.path)
  expect(own.paths.length).toBeLessThan(50)
  expect(own.pages).toBeLessThan(Math.ceil(many / 1000) + 3)
})
