// A Task for manual review: it states which patients may be one, and why (https://hl7.org/fhir/R4/task.html). It names
// levels of agreement, never the names of a person.

import { isObject, type JsonObject, objectsIn } from '../../lib/json.ts'
import { reviewSystem } from '../../store/index/subject.ts'
import type { Grade, Ranked } from '../matching/decide.ts'
import { explain } from '../matching/score.ts'

const ours = 'https://health-interop.org/fhir'

/** The code of these Tasks. */
export const possibleDuplicate = { system: reviewSystem, code: 'possible-duplicate' }

const matchGrade = 'http://hl7.org/fhir/StructureDefinition/match-grade'
const matchScore = `${ours}/StructureDefinition/match-score`
const matchField = `${ours}/StructureDefinition/match-field`

const part = (code: string, text?: string): JsonObject => ({
  coding: [{ system: possibleDuplicate.system, code }],
  ...(text === undefined ? {} : { text }),
})

/** The Task about a patient who may be one of others. */
export function reviewTask(patient: string, others: readonly Ranked[], now: Date): JsonObject {
  const about = { reference: `Patient/${patient}` }
  return {
    resourceType: 'Task',
    status: 'requested',
    intent: 'order',
    code: { coding: [{ ...possibleDuplicate, display: 'Possible duplicate' }] },
    description:
      'This patient may be registered already. Compare both; if they are one person, merge them (Patient/$merge).',
    focus: about,
    for: about,
    authoredOn: now.toISOString(),
    input: others.map(inputOf),
  }
}

/** Of a person of whom the sender knows a number only. */
const nothingToCompare = 'Nothing that can be compared'

function inputOf(candidate: Ranked): JsonObject {
  const { id, grade, score } = candidate
  return {
    extension: [
      { url: matchGrade, valueCode: grade },
      { url: matchScore, valueDecimal: shownScore(candidate) },
      ...score.parts.map(({ field, level, bits, blocks }) => ({
        url: matchField,
        extension: [
          { url: 'field', valueCode: field },
          { url: 'level', valueCode: level },
          { url: 'bits', valueDecimal: Number(bits.toFixed(2)) },
          ...(blocks ? [{ url: 'blocks', valueBoolean: true }] : []),
        ],
      })),
    ],
    type: part('candidate', explain(score).join('; ') || nothingToCompare),
    valueReference: { reference: `Patient/${id}` },
  }
}

/** Where something speaks against a match, it is doubtful, however much else agrees: twins. */
const DOUBTFUL = 0.5

/** How probable it is, as it is shown. */
export function shownScore({ probability, score }: Ranked): number {
  return Number((score.isBlocked ? Math.min(probability, DOUBTFUL) : probability).toFixed(4))
}

/** Returns the ids of the patients that a review Task compares: its subject, and the candidates. */
export function comparedIn(task: JsonObject): {
  readonly focus: string | undefined
  readonly candidates: readonly string[]
} {
  return {
    focus: patientIn(task['focus']),
    candidates: objectsIn(task['input']).flatMap(({ valueReference }) => patientIn(valueReference) ?? []),
  }
}

/** What the matcher said of a candidate when the Task was created. */
export interface Likeness {
  /** Id of the patient. */
  readonly patient: string
  readonly grade: Grade
  /** From 0 to 1. */
  readonly score: number
  readonly reasons: readonly Reason[]
}

/** How one field agrees, and what that weighs. */
export interface Reason {
  readonly field: string
  readonly level: string
  readonly bits: number
  /** True if there is no match at this level, whatever else agrees. */
  readonly blocks: boolean
}

/** Returns the candidates of a review Task with the matcher's own explanation. */
export function likenessesIn(task: JsonObject): Likeness[] {
  return objectsIn(task['input']).flatMap(({ extension, valueReference }) => {
    const patient = patientIn(valueReference)
    const said = objectsIn(extension)
    const reasons = said.filter(({ url }) => url === matchField).map(each => reasonIn(objectsIn(each['extension'])))
    const grade = String(said.find(({ url }) => url === matchGrade)?.['valueCode'] ?? 'possible') as Grade
    const score = Number(said.find(({ url }) => url === matchScore)?.['valueDecimal'] ?? 0)
    return patient === undefined ? [] : [{ patient, grade, score, reasons }]
  })
}

function reasonIn(parts: readonly JsonObject[]): Reason {
  const said = (name: string, key: string): unknown => parts.find(({ url }) => url === name)?.[key]
  return {
    field: String(said('field', 'valueCode')),
    level: String(said('level', 'valueCode')),
    bits: Number(said('bits', 'valueDecimal')),
    blocks: said('blocks', 'valueBoolean') === true,
  }
}

const outcomes = ['merged', 'merged-into', 'kept-apart'] as const

/** What became of a candidate; `merged-into`: the patient that remains, into which the subject was merged too. */
export interface Settled {
  readonly patient: string
  readonly outcome: (typeof outcomes)[number]
}

/** Returns what is settled of a review Task. */
export function settledIn(task: JsonObject): Settled[] {
  return objectsIn(task['output']).flatMap(({ type, valueReference }) => {
    const code = objectsIn(isObject(type) ? type['coding'] : undefined)[0]?.['code']
    const outcome = outcomes.find(each => each === code)
    const patient = patientIn(valueReference)
    return outcome && patient !== undefined ? [{ patient, outcome }] : []
  })
}

/** Returns the candidates of a review Task that are not settled. */
export function openIn(task: JsonObject): string[] {
  const settled = new Set(settledIn(task).map(({ patient }) => patient))
  return comparedIn(task).candidates.filter(each => !settled.has(each))
}

/** Returns the same Task with one candidate settled; it is completed if no other one is open. */
export function settled(task: JsonObject, { patient, outcome }: Settled): JsonObject {
  const said = withOutput(task, outcome, patient)
  return openIn(said).length === 0 ? { ...said, status: 'completed' } : said
}

/** Returns the same Task, completed: its patients are merged now. */
export const reviewed = (task: JsonObject, survivor: string): JsonObject => ({
  ...withOutput(task, 'merged-into', survivor),
  status: 'completed',
})

/** Returns the same Task after its merge with a candidate was undone: the two are kept apart, and other candidates are open again. */
export function undone(task: JsonObject, candidate: string): JsonObject {
  const others = settledIn(task).filter(({ patient, outcome }) => patient !== candidate && outcome !== 'merged-into')
  const { output: _output, ...open } = task
  const said = [...others, { patient: candidate, outcome: 'kept-apart' as const }].reduce(
    (changed: JsonObject, { patient, outcome }) => withOutput(changed, outcome, patient),
    open,
  )
  return { ...said, status: openIn(said).length === 0 ? 'completed' : 'requested' }
}

const withOutput = (task: JsonObject, code: Settled['outcome'], patient: string): JsonObject => ({
  ...task,
  output: [...objectsIn(task['output']), { type: part(code), valueReference: { reference: `Patient/${patient}` } }],
})

function patientIn(reference: unknown): string | undefined {
  const text = isObject(reference) ? reference['reference'] : undefined
  return typeof text === 'string' && text.startsWith('Patient/') ? text.slice('Patient/'.length) : undefined
}
