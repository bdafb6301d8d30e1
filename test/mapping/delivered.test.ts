// What is true of the maps beyond their examples coming out as they say.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/lib/json.ts'
import { examplesIn } from '../../src/mapping/examples.ts'
import { opposite } from '../../src/mapping/round-trip.ts'
import { fhirPathInvariants } from '../../src/store/validate/fhirpath-invariants.ts'
import { createValidator } from '../../src/store/validate.ts'
import { deliveredFiles, deliveredSet, mapsFolder } from '../support/maps.ts'

const { mappings } = deliveredSet()
const { byMap } = examplesIn(deliveredFiles)
const names = [...mappings.keys()]
const validate = createValidator({ invariants: fhirPathInvariants })

describe('the maps that are delivered', () => {
  test('lead both ways, except where a record is only pushed or only read, and what such maps import', () => {
    const oneWay = names.filter(name => !name.startsWith('hl7v2/') && !mappings.has(opposite(name) ?? ''))
    expect(oneWay).toEqual([
      'blood-group-from-fhir',
      'encounter-push-to-fhir',
      'lab-push-to-fhir',
      'observation-values',
    ])
  })

  test('are named by the tutorial, every one', () => {
    const readme = readFileSync(join(mapsFolder, 'README.md'), 'utf8')
    expect(names.filter(name => !readme.includes(`\`${name.replace('hl7v2/', '')}\``))).toEqual([])
  })

  test('are all that the folder has after the tutorial: it removes the drafts that it makes', () => {
    const readme = readFileSync(join(mapsFolder, 'README.md'), 'utf8')
    const drafts = [...readme.matchAll(/--output (\S+\.fml)/g)].map(([, name]) => name)
    expect(drafts.length).toBeGreaterThan(0)
    for (const name of drafts) expect(readme).toContain(`rm mappings/${name}`)
  })

  test.each(names.filter(name => byMap.has(name)))(
    '%s reads and makes resources that R4 does not even warn of',
    name => {
      const resources = byMap
        .get(name)!
        .flatMap(({ from, to }) => [from, to].filter(each => 'resourceType' in Object(each)))
      expect(resources.length).toBeGreaterThan(0)
      expect(resources.flatMap(each => validate(parseJson(JSON.stringify(each))))).toEqual([])
    },
  )

  test('keep a number of an organisation only if they know which organisation it is of', () => {
    const person = { first_name: 'Moussa', external_reference: '77' }
    const context = { base_url: 'https://interop.example', received_at: '2026-03-14T10:42:07+01:00' }
    const stored = (more: object) => mappings.get('patient-to-fhir')!.program!.run([person, { ...context, ...more }])
    expect(stored({}).identifier).toBeUndefined()
    const patient = stored({ organization_id: 'a' })
    const shown = (more: object) => mappings.get('patient-from-fhir')!.program!.run([patient, { ...context, ...more }])
    expect(shown({ organization_id: 'a' }).external_reference).toBe('77')
    expect(shown({ organization_id: 'b' }).external_reference).toBeUndefined()
    expect(shown({}).external_reference).toBeUndefined()
  })
})
