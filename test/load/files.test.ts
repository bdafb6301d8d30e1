// The order in which files are loaded: what others refer to by condition comes first, then by name.
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { filesOf } from '../../src/load/read.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('files of a folder come in the order in which references need them, and in that order by name', async () => {
  const folder = await temporaryFolder('files')
  await mkdir(join(folder, 'b-more'))
  const names = [
    'Zebra.ndjson',
    'Observation.ndjson',
    'a.json',
    'b-more/Condition.ndjson.gz',
    'b-more/Patient.jsonl',
    'Patient.ndjson',
    'PractitionerRole.ndjson',
    'Practitioner.ndjson',
    'Location.ndjson',
    'Organization.2.ndjson',
    'Organization.1.ndjson',
    'notes.txt',
  ]
  for (const name of names) await writeFile(join(folder, name), '')
  const found = await filesOf([join(folder, 'a.json'), folder])
  expect(found.map(({ path }) => relative(folder, path))).toEqual([
    'a.json',
    'Organization.1.ndjson',
    'Organization.2.ndjson',
    'Location.ndjson',
    'Practitioner.ndjson',
    'PractitionerRole.ndjson',
    'Patient.ndjson',
    'Observation.ndjson',
    'Zebra.ndjson',
    'a.json',
    'b-more/Patient.jsonl',
    'b-more/Condition.ndjson.gz',
  ])
})
