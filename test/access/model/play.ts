// Plays histories at the doors of a service, several at once, and compares every way of reading with the model after each step.
import type { Answer, CallOptions } from '../../support/fhir.ts'
import type { Thing } from './decide.ts'
import { type Act, actor } from './doors.ts'
import { actingAs, type Step, viewers } from './steps.ts'
import { coding, type Kind } from './terms.ts'
import { answeredBy, beginning, expect as expected, seesByConsent, type World } from './world.ts'

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>

export interface Stage {
  readonly call: Call
  /** By name of client. */
  readonly tokens: Readonly<Record<string, string>>
  readonly healthIdSystem: string
  readonly mintHealthId: () => string
  /** A telephone's token for a patient. */
  readonly enrol: (patient: string, healthId: string) => Promise<string>
}

/** What did not agree: in which history, after how many steps, and how. */
export interface Disagreement {
  readonly history: number
  readonly step: number
  readonly message: string
}

/** A resource of a patient, as the model knows it. */
interface Item extends Thing {
  readonly name: string
  readonly patient: number
  /** Who created it; the keeper's belong to nobody who sees by consent. */
  readonly by: string
}

const itemsOf = (patient: number): Item[] => [
  { name: 'patient', type: 'Patient', codes: [], patient, by: 'keeper' },
  { name: 'hiv', type: 'Observation', codes: ['75622-1', 'laboratory'], patient, by: 'keeper' },
  { name: 'hb', type: 'Observation', codes: ['718-7'], patient, by: 'keeper' },
  { name: 'condition', type: 'Condition', codes: [], patient, by: 'keeper' },
  { name: 'own', type: 'Observation', codes: ['718-7'], patient, by: 'a1' },
]
const items = [...itemsOf(0), ...itemsOf(1)]
const shared = items.filter(({ by }) => by === 'keeper')

/** One history on its way. */
export interface Play {
  readonly prefix: string
  readonly healthIds: readonly string[]
  phone: string | undefined
  world: World
  /** Patients as they were stored first. */
  readonly patients: readonly object[]
}

export const patientId = ({ prefix }: Pick<Play, 'prefix'>, patient: number): string => `${prefix}-p${patient}`
const idOf = (play: Pick<Play, 'prefix'>, { name, patient }: Item): string =>
  name === 'patient' ? patientId(play, patient) : `${patientId(play, patient)}-${name}`

let runs = 0

/** Plays the histories beside each other. @returns the first disagreement of each that has one */
export async function play(stage: Stage, histories: readonly (readonly Step[])[]): Promise<Disagreement[]> {
  const tag = `run-${++runs}`
  const plays = histories.map((_steps, index) => playOf(stage, `${tag}-${index}`, tag))
  await prepare(stage, plays, tag)
  const found = new Map<number, Disagreement>()
  const note = (history: number, step: number, message: string): void => {
    if (!found.has(history)) found.set(history, { history, step, message })
  }
  const length = Math.max(...histories.map(steps => steps.length))
  for (let step = 0; step < length; step++) {
    await inTurns(plays, async (each, index) => {
      const doing = histories[index]![step]
      if (doing === undefined || found.has(index)) return
      const message = await perform(stage, each, doing)
      if (message) note(index, step, message)
    })
    const isLast = step === length - 1
    for (const client of viewers)
      for (const [index, message] of await compare(stage, plays, tag, client, step, isLast))
        note(index, step, `${client}: ${message}`)
  }
  return [...found.values()]
}

async function inTurns<T>(all: readonly T[], work: (each: T, index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) await work(all[at]!, at)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

function playOf({ mintHealthId, healthIdSystem }: Stage, prefix: string, tag: string): Play {
  const healthIds = [mintHealthId(), mintHealthId()]
  const patients = healthIds.map((value, at) => ({
    resourceType: 'Patient',
    id: patientId({ prefix }, at),
    meta: { tag: [{ system: 'urn:test', code: tag }] },
    active: true,
    gender: 'female',
    identifier: [{ use: 'official', system: healthIdSystem, value }],
  }))
  return { prefix, healthIds, phone: undefined, world: beginning, patients }
}

/** Stores what the histories are about: what the keeper wrote, and what a client did. */
async function prepare(stage: Stage, plays: readonly Play[], tag: string): Promise<void> {
  for (const by of ['keeper', 'a1']) {
    const entry = plays.flatMap(each =>
      items
        .filter(item => item.by === by)
        .map(item => {
          const resource = item.type === 'Patient' ? each.patients[item.patient]! : resourceOf(each, item, tag)
          return { resource, request: { method: 'PUT', url: `${item.type}/${idOf(each, item)}` } }
        }),
    )
    const body = { resourceType: 'Bundle', type: 'transaction', entry }
    const { status, text } = await stage.call('POST', '', { token: stage.tokens[by], body })
    if (status !== 200) throw new Error(`The histories could not be prepared: ${text}`)
  }
}

function resourceOf(each: Play, item: Item, tag: string): object {
  const [type, category] = [item.codes.find(code => code !== 'laboratory'), item.codes.includes('laboratory')]
  return {
    resourceType: item.type,
    id: idOf(each, item),
    meta: { tag: [{ system: 'urn:test', code: tag }] },
    ...(item.type === 'Observation' && { status: 'final' }),
    ...(category && { category: [{ coding: [coding('laboratory')] }] }),
    code: type ? { coding: [coding(type)] } : { text: 'x' },
    subject: { reference: `Patient/${patientId(each, item.patient)}` },
  }
}

/** Does one step. @returns what was answered otherwise than the model says */
async function perform(stage: Stage, on: Play, step: Step): Promise<string | undefined> {
  const by = actingAs(step.by)
  const said = 'id' in step ? { ...step, id: `${on.prefix}-${step.id}` } : step
  const outcome = expected(on.world, said, by, shared)
  const act: Act = { stage, on, step: said, target: step.act === 'phone' ? answeredBy(on.world, 0, step.which) : '' }
  const { status, id, text } = await actor(act)
  const at = outcome.statuses.indexOf(status)
  if (at < 0) return `${step.act} by ${step.by} answered ${status} instead of ${outcome.statuses.join(' or ')}: ${text}`
  const wrong = at === 0 && id !== undefined ? outcome.wrong?.(id) : undefined
  if (wrong) return `${step.act} by ${step.by} answered ${id}: ${wrong}`
  on.world = outcome.after[at]!(id)
  return undefined
}

type Ids = ReadonlySet<string>

/** Whether a client sees an item, as the model has it. */
const sees = (on: Play, client: string, item: Item): boolean =>
  item.by === client || seesByConsent(on.world, client, item.patient, item)

/** A way of reading: what is asked, and which items it shows of a history. */
interface Reading {
  readonly name: string
  readonly path: string
  readonly shows: (on: Play, item: Item, see: (item: Item) => boolean) => boolean
}

const patientOf = (item: Item): Item => items.find(each => each.name === 'patient' && each.patient === item.patient)!
const isOf = (type: Kind) => (item: Item) => item.type === type

function searchesOf(plays: readonly Play[], tag: string): Reading[] {
  const own = `_tag=urn:test|${tag}&_count=1000`
  const everybody = plays.flatMap(each => [patientId(each, 0), patientId(each, 1)]).join(',')
  return [
    { name: 'search', path: `Observation?${own}`, shows: (_on, item, see) => isOf('Observation')(item) && see(item) },
    {
      name: 'search by patient',
      path: `Observation?patient=${everybody}&_count=1000`,
      shows: (_on, item, see) => isOf('Observation')(item) && see(item),
    },
    {
      name: 'search across types',
      path: `?_type=Patient,Condition&${own}`,
      shows: (_on, item, see) => item.type !== 'Observation' && see(item),
    },
    {
      name: 'chain',
      path: `Condition?patient.gender=female&${own}`,
      shows: (_on, item, see) => isOf('Condition')(item) && see(item) && see(patientOf(item)),
    },
    {
      name: '_has',
      path: `Patient?_has:Observation:patient:code=http://loinc.org|75622-1&${own}`,
      shows: (_on, item, see) =>
        isOf('Patient')(item) &&
        see(item) &&
        items.some(each => each.name === 'hiv' && each.patient === item.patient && see(each)),
    },
    {
      name: '_include',
      path: `Observation?_include=Observation:patient&${own}`,
      shows: (_on, item, see) =>
        see(item) &&
        (isOf('Observation')(item) ||
          (isOf('Patient')(item) &&
            items.some(each => isOf('Observation')(each) && each.patient === item.patient && see(each)))),
    },
  ]
}

const direct = ['read', 'vread', 'history', '$everything', 'records'] as const

/** How many histories share the ways of reading one by one: each is read so at every so-manieth step, and all are at the end. */
const share = 4

/** Compares what a client is shown with the model: all by searches, and the histories in turn by addresses of their own. */
async function compare(
  stage: Stage,
  plays: readonly Play[],
  tag: string,
  client: string,
  step: number,
  isLast: boolean,
) {
  const found: [number, string][] = []
  const judge =
    (name: string, among: readonly Play[]): Judge =>
    (shown, shows) => {
      for (const on of among)
        for (const item of items) {
          const [is, shall] = [shown.has(idOf(on, item)), shows(on, item, each => sees(on, client, each))]
          if (is !== shall) found.push([plays.indexOf(on), `${name} ${is ? 'shows' : 'hides'} ${idOf(on, item)}`])
        }
    }
  const token = stage.tokens[client]!
  const searches = searchesOf(plays, tag)
  for (const { name, path, shows } of isLast ? searches : [searches[0]!, searches[1 + (step % 5)]!]) {
    const { status, body, text } = await stage.call('POST', '', { token, body: batch([path]) })
    if (status !== 200) throw new Error(`${name}: ${text}`)
    judge(name, plays)(idsIn(body.entry[0].resource), shows)
  }
  for (const [way, name] of direct.entries()) {
    const isTurn = (index: number): boolean =>
      (index + step) % direct.length === way && (isLast || (index + step) % share === 0)
    const among = plays.length === 1 ? plays : plays.filter((_on, index) => isTurn(index))
    if (among.length > 0) await readings[name](stage, among, token, judge(name, among))
  }
  return found
}

const batch = (paths: readonly string[]) => ({
  resourceType: 'Bundle',
  type: 'batch',
  entry: paths.map(url => ({ request: { method: 'GET', url } })),
})

const idsIn = (bundle: { entry?: { resource?: { id: string } }[] } | undefined): Set<string> =>
  new Set((bundle?.entry ?? []).flatMap(({ resource }) => resource?.id ?? []))

type Judge = (shown: Ids, shows: Reading['shows']) => void
type Read = (stage: Stage, plays: readonly Play[], token: string, judge: Judge) => Promise<void>

/** Each item by an address of its own. @param address undefined: this item has none */
const each =
  (address: (url: string, item: Item) => string | undefined): Read =>
  async (stage, plays, token, judge) => {
    const asked = plays.flatMap(on =>
      items.map(item => [idOf(on, item), address(`${item.type}/${idOf(on, item)}`, item)]),
    )
    const named = asked.flatMap(([id, path]) => (path === undefined ? [] : [[id!, path] as const]))
    const { body } = await stage.call('POST', '', { token, body: batch(named.map(([, path]) => path)) })
    const shown = named.flatMap(([id], at) => (body.entry[at].response.status.startsWith('200') ? [id] : []))
    judge(new Set(shown), (_on, item, see) => address('', item) !== undefined && see(item))
  }

// A Patient that was merged has versions before, which consents that ask for codes do not open.
const versioned = (suffix: string) => (url: string, item: Item) =>
  item.type === 'Patient' ? undefined : `${url}${suffix}`

const readings: Record<(typeof direct)[number], Read> = {
  read: each(url => url),
  vread: each(versioned('/_history/1')),
  history: each(versioned('/_history')),
  async $everything(stage, plays, token, judge) {
    const asked = plays.flatMap(on => [0, 1].map(at => patientId(on, at)))
    const { body } = await stage.call('POST', '', {
      token,
      body: batch(asked.map(id => `Patient/${id}/$everything?_count=1000`)),
    })
    const own = asked.flatMap((id, at) => [...idsIn(body.entry[at].resource)].filter(each => each.startsWith(id)))
    judge(new Set(own), (_on, item, see) => see(item))
  },
  async records(stage, plays, token, judge) {
    const shown = new Set<string>()
    await inTurns(plays, async on => {
      for (const healthId of on.healthIds) {
        const path = `/api/v1/connect/patient/${healthId}/records?type=diagnoses`
        const { body } = await stage.call('GET', path, { token })
        for (const { id } of body.data?.diagnoses ?? []) shown.add(id)
      }
    })
    judge(shown, (_on, item, see) => item.type === 'Condition' && see(item))
  },
}
