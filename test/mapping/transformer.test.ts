// Maps of requests run in threads that clients share: one client has one thread at a time, and only so many of its maps wait.
import { expect, test } from 'vitest'
import type { Job } from '../../src/mapping/job.ts'
import { createTransformer } from '../../src/mapping/transformer.ts'
import type { DeskTask } from '../../src/mapping/workbench/asks.ts'
import { onCleanup } from '../support/cleanup.ts'

const jobOf = (rule: string, family: string): Job => ({
  map: {
    path: 'map',
    name: 'map',
    text: `map "http://a.example/m" = "m"
      uses "http://hl7.org/fhir/StructureDefinition/Patient" as source
      uses "http://hl7.org/fhir/StructureDefinition/Basic" as target
      group main(source src : Patient, target tgt : Basic) { ${rule} }`,
  },
  others: [],
  sources: [JSON.stringify({ resourceType: 'Patient', id: 'p', name: [{ family }] })],
  isTraced: false,
})

const endless = jobOf(
  `src.name as n where n.family.matches('^(([a-z])+.)+[A-Z]([a-z])+$') -> tgt.id = 'x' "slow";`,
  'a'.repeat(60),
)
const quick = jobOf('src.id -> tgt.id "id";', 'a')

test('a client whose maps take for ever waits for itself, and others do not wait for it', async () => {
  const transformer = createTransformer({ limit: 20_000 })
  onCleanup(transformer.close)
  const codes: string[] = []
  const endlessOnes = Array.from({ length: 12 }, () =>
    transformer.run('a', endless).catch(error => void codes.push(error.code)),
  )
  const made = await Promise.all(['b', 'c'].map(client => transformer.run(client, quick)))
  expect(made.map(({ result }) => JSON.parse(result!).id)).toEqual(['p', 'p'])
  // One runs, ten wait, and the one after these is refused.
  expect(codes).toEqual(['RATE_LIMITED'])
  const [study] = await transformer.study('b', [quick.map])
  expect(study!.url).toBe('http://a.example/m')
  await transformer.close()
  await Promise.all(endlessOnes)
  expect(codes.toSorted().slice(0, 1)).toEqual(['RATE_LIMITED'])
})

test('a map that takes too long is stopped, and its thread is another client’s', async () => {
  const transformer = createTransformer({ limit: 1500, processes: 1 })
  onCleanup(transformer.close)
  const stopped = transformer.run('a', endless).catch(error => [error.code, error.options.issue])
  const made = transformer.run('b', quick)
  expect(await stopped).toEqual(['VALIDATION_FAILED', 'too-costly'])
  expect(JSON.parse((await made).result!).id).toBe('p')
})

test('what the workbench tries is stopped as well, and the next try begins with the folder again', async () => {
  const transformer = createTransformer({ limit: 1500, processes: 1 })
  onCleanup(transformer.close)
  const { map, sources } = endless
  const whole = (text: string) => text.replaceAll('Basic', 'Person')
  const file = { text: whole(map.text), path: 'slow.fml', name: 'slow.fml' }
  const task = (text: string, input: string): DeskTask => ({
    base: { id: '1', files: [file] },
    needs: [],
    drafts: [{ name: file.name, text }],
    ask: { kind: 'try', input, context: '' },
  })
  const failed = transformer
    .ask<'try'>('a', task(whole(map.text), sources[0]!))
    .catch(error => [error.code, error.options.issue])
  expect(await failed).toEqual(['VALIDATION_FAILED', 'too-costly'])
  const { base, ...more } = task(whole(quick.map.text), sources[0]!)
  expect(await transformer.ask('a', { ...more, base: { id: base.id } })).toBe('unknown base')
  const reply = await transformer.ask<'try'>('a', { ...more, base })
  expect(reply).toMatchObject({ answer: { output: expect.stringContaining('"id": "p"') } })
})
