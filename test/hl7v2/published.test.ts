// Published messages that nobody here wrote: each is accepted or refused with a reason, and each bundle is valid R4.

import { describe, expect, test } from 'vitest'
import { fhirPathInvariants } from '../../src/store/validate/fhirpath-invariants.ts'
import { createValidator } from '../../src/store/validate.ts'
import { publishedMessages, translateAll } from '../bench/messages.ts'

const messages = publishedMessages()

describe.skipIf(messages.length === 0)(
  `published messages${messages.length === 0 ? ' (skipped: no shared data)' : ''}`,
  async () => {
    const { accepted, refused } = messages.length === 0 ? { accepted: [], refused: [] } : await translateAll(messages)

    test('are accepted, but for those that lack what they must have or hold dates that do not exist', () => {
      expect(messages.length).toBe(722)
      const reasons = new Set(refused.map(({ problem }) => problem.message.replace(/;.*/, '')))
      expect([...reasons].sort()).toEqual(['the field is missing', 'the segment is missing', 'there is no such date'])
      expect(refused.length).toBe(12)
      expect(refused.every(({ problem }) => problem.segment !== undefined)).toBe(true)
    })

    test('become bundles that R4 does not even warn of', () => {
      const validate = createValidator({ invariants: fhirPathInvariants })
      const issues = accepted.flatMap(({ bundle }) => validate(bundle, { type: 'Bundle', conditionalReferences: true }))
      expect(issues).toEqual([])
    })

    test('write no resource twice, and find each of theirs again', () => {
      for (const { bundle } of accepted) {
        const keys = (bundle['entry'] as { request: { method: string; url: string; ifNoneExist?: string } }[])
          .map(({ request: { method, url, ifNoneExist } }) => `${method} ${url} ${ifNoneExist ?? ''}`)
          .filter(each => each.includes('identifier='))
        expect(keys).toEqual([...new Set(keys)])
      }
    })
  },
)
