// Generated histories of consents, played at the doors of the service, show after each step what the model of the rules shows.
import { beforeAll, expect, test } from 'vitest'
import { issueCode } from '../../src/identity/enrolment.ts'
import { mint as mintHealthId } from '../../src/lib/health-id.ts'
import { healthIdSystem } from '../api/connect/support.ts'
import { fhirCaller } from '../support/fhir.ts'
import { randomOf } from '../support/random.ts'
import { rounds } from '../support/rounds.ts'
import { type Service, startService } from '../support/service.ts'
import { type Call, type Disagreement, play, type Stage } from './model/play.ts'
import { clients, historyBy, type Step } from './model/steps.ts'

/** `CONSENT_HISTORIES=100000 npx vitest run test/access/consent-model.test.ts` plays more; `CONSENT_SEED` is the first of them. */
const histories = Number(process.env['CONSENT_HISTORIES'] ?? rounds(10, 30))
const firstSeed = Number(process.env['CONSENT_SEED'] ?? 1)
const together = 30
const length = 7

let service: Service
let stage: Stage
const scopes = ['system/*.cruds', 'consents:read', 'consents:write', 'patient:diagnostics:read']

beforeAll(async () => {
  service = await startService()
  const call: Call = fhirCaller(() => service)
  const tokens: Record<string, string> = {}
  for (const [clientId, organizationId] of Object.entries(clients))
    tokens[clientId] = await service.application.identity.tokens.mint(
      { clientId, organizationId, consentExempt: clientId === 'keeper' },
      scopes,
    )
  const enrol = async (patient: string, healthId: string): Promise<string> => {
    const { code } = await issueCode(service.application.database, patient, Date.now())
    const body = JSON.stringify({ health_id: healthId, code })
    const { body: told } = await call('POST', '/api/v1/mobile/enrol', {
      body,
      headers: { 'content-type': 'application/json' },
    })
    return told.token
  }
  stage = { call, tokens, healthIdSystem: healthIdSystem(service), mintHealthId: () => mintHealthId('CM'), enrol }
})

const historyOf = (seed: number): Step[] => historyBy(randomOf(seed), length)

/** The fewest of these steps that still disagree, and how. */
async function shortest(steps: readonly Step[], how: string): Promise<{ steps: readonly Step[]; how: string }> {
  for (let without = steps.length - 1; without >= 0 && steps.length > 1; without--) {
    const fewer = steps.filter((_step, at) => at !== without)
    const [found] = await play(stage, [fewer])
    if (found) return shortest(fewer.slice(0, found.step + 1), found.message)
  }
  return { steps, how }
}

async function explained(seed: number, { step, message }: Disagreement): Promise<string> {
  const { steps, how } = await shortest(historyOf(seed).slice(0, step + 1), message)
  return `seed ${seed}: ${how}\n${steps.map(each => JSON.stringify(each)).join('\n')}`
}

test('what is shown after each step of a history is what the model shows', { timeout: 36_000_000 }, async () => {
  const wrong: string[] = []
  for (let from = firstSeed; from < firstSeed + histories && wrong.length < 5; from += together) {
    const seeds = Array.from({ length: Math.min(together, firstSeed + histories - from) }, (_none, at) => from + at)
    const found = await play(stage, seeds.map(historyOf))
    for (const each of found.slice(0, 3)) wrong.push(await explained(seeds[each.history]!, each))
    if (histories > 1000 && (from - firstSeed) % 3000 === 0) console.log(`${from - firstSeed + together} histories`)
  }
  expect(wrong.join('\n\n')).toBe('')
})
