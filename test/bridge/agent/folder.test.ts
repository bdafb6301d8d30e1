// The watched folder: a file is read when it is complete, and moved when what it holds is stored.
import { existsSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checked, limitsOf, sourcesOf } from '../../../bridge/src/config-check.ts'
import type { FolderSource } from '../../../bridge/src/config-shape.ts'
import { createWatch } from '../../../bridge/src/folder/watch.ts'
import { createIntake } from '../../../bridge/src/intake.ts'
import { createLog } from '../../../bridge/src/log.ts'
import { payloadOf } from '../../../bridge/src/state/items.ts'
import { listQuarantine } from '../../../bridge/src/state/quarantine.ts'
import { freshFolder, freshState, testClock } from '../support/agent.ts'
import { admission, broken } from '../support/sender.ts'

/** A watch over a folder of its own, with a clock of the test. */
function watching(source: Record<string, unknown> = {}, limits: Record<string, number> = {}) {
  const folder = freshFolder()
  const state = freshState()
  const clock = testClock()
  const lines: string[] = []
  const log = createLog('debug', line => void lines.push(line))
  const problems: string[] = []
  const { files } = sourcesOf(checked({ files: { kind: 'folder', path: folder, ...source } }, '', problems), '/')
  const all = { value: limitsOf(checked({ min_free_bytes: 0, ...limits }, '', problems)) }
  expect(problems).toEqual([])
  const intake = createIntake({ state, clock, log, limits: () => all.value, onStored: () => {} })
  const time = () => new Date(clock.now())
  const longest = all.value.max_message_bytes
  const watch = createWatch({ state, intake, clock, log, time, name: 'files', source: files as FolderSource, longest })
  const rows = (): { type: string; occurred_at: string; payload: unknown }[] =>
    (state.sql('select item_id, type, occurred_at, payload from item order by id').all() as never[]).map(
      ({ item_id, type, occurred_at, payload }) => ({
        type,
        occurred_at,
        payload: JSON.parse(state.unseal(payload, payloadOf(item_id))),
      }),
    )
  return {
    folder,
    state,
    clock,
    lines,
    limits: all,
    rows,
    write: (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text),
    /** Looks twice, with the time between that a file needs to settle. */
    async look() {
      await watch.step()
      clock.advance(5000)
      await watch.step()
    },
    step: watch.step,
    stands: (path: string) => existsSync(join(folder, path)),
    reason: (name: string) => readFileSync(join(folder, 'failed', `${name}.reason`), 'utf8'),
  }
}

const rise = 'MSH|^~\\&|HIS|WARD|AGENT|CLINIC|20260301||ADT^A04|'

describe('each format becomes items', () => {
  test('HL7 v2, with batches, and what stands around them is left out', async () => {
    const watch = watching()
    watch.write(
      'day.hl7',
      `FHS|^~\\&|HIS\nBHS|^~\\&|HIS\n${admission('F-1')}\n${admission('F-2').replaceAll('\r', '\n')}BTS|2\nFTS|1\n`,
    )
    await watch.look()
    expect(watch.rows().map(({ payload }) => payload)).toEqual([
      { message: admission('F-1') },
      { message: admission('F-2') },
    ])
    expect(watch.stands('done/day.hl7')).toBe(true)
  })

  test('HL7 v2 behind the mark of UTF-8, which some programs write first, and in the frames of MLLP', async () => {
    const watch = watching()
    watch.write('marked.hl7', `\uFEFF${admission('M-1')}${admission('M-2')}`)
    watch.write('framed.hl7', `\v${admission('M-3')}\x1c\r\v${admission('M-4')}\x1c\r`)
    await watch.look()
    expect(watch.rows().map(({ payload }) => payload)).toEqual(
      ['M-3', 'M-4', 'M-1', 'M-2'].map(id => ({ message: admission(id) })),
    )
  })

  test('CSV, by the mapping of its columns', async () => {
    const csv = {
      type: 'stock_level',
      delimiter: ';',
      occurred_at: 'Date',
      fields: {
        medicine_code: { column: 'Code', required: true },
        'stock.quantity': { column: 'Quantité', as: 'number' },
        'stock.low': { column: 'Low', as: 'boolean' },
        facility: { value: 'F-1' },
      },
    }
    const watch = watching({ csv })
    watch.write(
      'stock.csv',
      '\uFEFFCode;Quantité;Low;Date;Note\r\n"A;1";12,5;oui;2026-03-01T09:00:00+01:00;"said ""no"""\r\nB2;;;;\r\n',
    )
    await watch.look()
    expect(watch.rows()).toEqual([
      {
        type: 'stock_level',
        occurred_at: '2026-03-01T08:00:00.000Z',
        payload: { medicine_code: 'A;1', stock: { quantity: 12.5, low: true }, facility: 'F-1' },
      },
      {
        type: 'stock_level',
        occurred_at: '2026-03-01T08:00:05.000Z',
        payload: { medicine_code: 'B2', facility: 'F-1' },
      },
    ])
  })

  test.each([
    ['a.json', '{"resourceType":"Bundle","type":"transaction","entry":[]}', ['fhir']],
    ['b.json', '[{"type":"payment","payload":{"amount":5}},{"resourceType":"Patient"}]', ['payment', 'fhir']],
    ['c.ndjson', '{"resourceType":"Patient"}\n\n{"resourceType":"Patient"}\n', ['fhir', 'fhir']],
    ['d.json', '{"test_name":"Potassium"}', ['lab_result']],
  ])('%s', async (name, text, types) => {
    const watch = watching({ type: 'lab_result' })
    watch.write(name, text)
    await watch.look()
    expect(watch.rows().map(({ type }) => type)).toEqual(types)
    expect(watch.stands(`done/${name}`)).toBe(true)
  })
})

describe('a file that cannot be taken is moved to failed/ with its reason, and nothing of it is stored', () => {
  test.each([
    ['x.hl7', 'no message here', 'no line begins with MSH'],
    ['x.hl7', `PV1|1\r${rise}1|P|2.5\r`, 'something stands before the first MSH segment'],
    ['x.hl7', 'FHS|^~\\&\rFTS|0\r', 'The file holds no message.'],
    ['x.csv', 'a,b\n1,2\n', 'needs a mapping'],
    ['x.json', '{', 'The file is not JSON.'],
    ['x.ndjson', '{"resourceType":"Patient"}\n{', 'Line 2 is not JSON.'],
    ['x.json', '[{"resourceType":"Patient"},{"payload":{}}]', 'Record 2: type must be one of'],
    ['x.json', '[]', 'holds no record'],
    ['x.pdf', '%PDF', 'The format is not known'],
    ['x.ndjson', `{"resourceType":"Patient","text":"${'x'.repeat(5000)}"}`, 'Record 1 is longer than 2048 bytes'],
    ['x.hl7', `${rise}1|P|2.5\rNTE|${'x'.repeat(5000)}`, 'Message 1 is longer than 2048 bytes'],
    ['x.hl7', 'x'.repeat(20_000), 'The file is longer than 10000 bytes'],
  ])('%s, case %#', async (name, text, reason) => {
    const watch = watching({ max_file_bytes: 10_000 }, { max_message_bytes: 2048 })
    watch.write(name, text)
    await watch.look()
    expect(watch.rows()).toEqual([])
    expect(watch.stands(name)).toBe(false)
    expect(watch.reason(name)).toContain(reason)
    expect(watch.reason(name)).not.toContain('%PDF')
  })

  test.each([
    ['Code,Qty\nA\n', 'Row 2 has 1 cells'],
    ['Code,Qty\nA,many\n', 'Row 2, column Qty must be a number.'],
    ['Code,Qty\n,1\n', 'Row 2, column Code is empty, but required.'],
    ['Code\nA\n', 'lacks columns of the mapping: Qty'],
    ['Code,Qty\n"A,1\n', 'a quote is opened and not closed'],
  ])('CSV %j', async (text, reason) => {
    const fields = { code: { column: 'Code', required: true }, quantity: { column: 'Qty', as: 'number' } }
    const watch = watching({ csv: { type: 'stock_level', fields } })
    watch.write('x.csv', text)
    await watch.look()
    expect(watch.reason('x.csv')).toContain(reason)
  })
})

test('of a file with messages the wrong one goes to quarantine, and the others are taken', async () => {
  const watch = watching()
  watch.write('day.hl7', `${admission('G-1')}${broken('G-3')}${admission('G-2')}`)
  await watch.look()
  expect(watch.rows()).toHaveLength(2)
  expect(listQuarantine(watch.state)).toMatchObject([
    { source: 'files', origin: 'intake', code: 'HL7_AE_100', field: 'PID' },
  ])
  expect(watch.stands('done/day.hl7')).toBe(true)
})

test('a file that grows is not read before it stays as it is; one with a name of copying programs never', async () => {
  const watch = watching()
  watch.write('grows.hl7', admission('H-1'))
  watch.write('copy.hl7.part', admission('H-2'))
  watch.write('.hidden.hl7', admission('H-3'))
  await watch.step()
  watch.clock.advance(4000)
  watch.write('grows.hl7', `${admission('H-1')}${admission('H-4')}`)
  await watch.step()
  watch.clock.advance(4000)
  await watch.step()
  expect(watch.rows()).toEqual([])
  watch.clock.advance(1000)
  await watch.step()
  expect(watch.rows()).toHaveLength(2)
  renameSync(join(watch.folder, 'copy.hl7.part'), join(watch.folder, 'copy.hl7'))
  utimesSync(join(watch.folder, 'copy.hl7'), 1, 1)
  await watch.look()
  expect(watch.rows()).toHaveLength(3)
})

test('a file of the same name as one that is done is kept beside it', async () => {
  const watch = watching({ settle_seconds: 0 })
  for (const id of ['J-1', 'J-2']) {
    watch.write('day.hl7', admission(id))
    await watch.step()
  }
  expect(readdirSync(join(watch.folder, 'done')).sort()).toEqual(['day-2.hl7', 'day.hl7'])
  expect(watch.rows()).toHaveLength(2)
})

test('a file whose items are stored and that was not moved is moved, and stored no second time', async () => {
  const watch = watching({ settle_seconds: 0 })
  watch.write('day.ndjson', '{"resourceType":"Patient"}\n')
  await watch.step()
  const digest = `x'${'00'.repeat(32)}'`
  expect(watch.state.sql('select count(*) as count from file').get()).toEqual({ count: 0 })
  watch.state.db.exec(`insert into file values ('files', 'other.ndjson', ${digest})`)
  watch.write('other.ndjson', '{"resourceType":"Patient"}\n')
  await watch.step()
  expect(watch.rows()).toHaveLength(2)
})

test('while the agent is full files stay where they are, and are taken when there is room', async () => {
  const watch = watching({ settle_seconds: 0 }, { max_items: 1 })
  watch.write('a.hl7', admission('K-1'))
  await watch.step()
  watch.write('b.hl7', admission('K-2'))
  watch.clock.advance(1000)
  await watch.step()
  expect([watch.stands('done/a.hl7'), watch.stands('b.hl7')]).toEqual([true, true])
  watch.limits.value = { ...watch.limits.value, max_items: 5 }
  watch.clock.advance(1000)
  await watch.step()
  expect(watch.stands('done/b.hl7')).toBe(true)
})

test('the log names no file and nothing of what is in it', async () => {
  const watch = watching()
  watch.write('Abena.hl7', admission('L-1'))
  watch.write('Abena.json', '{')
  await watch.look()
  expect(watch.lines.join('')).not.toContain('Abena')
})
