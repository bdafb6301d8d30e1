// The result of a check of the audit trail, as text; and the heads that an earlier check reported.
import type { Anchored, SeenHead } from './anchored.ts'
import type { ChainVerdict } from './verify.ts'
import { type Break, placeOf } from './walk.ts'

/** The verdict in lines of text. */
export function verdictText({ isWhole, chains, rows, broken }: ChainVerdict): string {
  if (isWhole) return `The audit trail is intact: ${rows} rows in ${chains} chains.\n`
  const [first] = broken
  return [
    `The audit trail is broken, first at ${placeText(first!)}.`,
    ...broken.map(each => `  ${placeText(each)}: ${each.problem}`),
    `Good: ${rows} rows of ${chains} chains.`,
    '',
  ].join('\n')
}

/**
 * Returns what an anchor proves of the trail, in lines of text.
 * @param file undefined: the settings name none.
 */
export function anchorText(file: string | undefined, anchored: Anchored | undefined): string {
  const missed = 'rows cut off at the end under an older head cannot be detected'
  if (file === undefined) return `The anchor is disabled: ${missed}.\n`
  const { problems = [], lines, last } = anchored ?? {}
  if (problems.length > 0) return ['The anchor is broken.', ...problems.map(each => `  ${each}`), ''].join('\n')
  if (!last) return `There is no anchor in ${file} yet: ${missed}.\n`
  return `The anchor is intact: ${lines} lines, the last of ${last.time}.\n`
}

/** With the id under which AuditEvent has the row. */
const placeText = (at: Break): string =>
  at.sequence === undefined ? placeOf(at) : `${placeOf(at)} (AuditEvent/${at.chain}-${at.sequence})`

/** The heads in the JSON of a verdict. @throws Error if there are none. */
export function reportedHeads(text: string): SeenHead[] {
  try {
    const { heads } = JSON.parse(text) as { heads: SeenHead[] }
    return heads.map(({ chain, sequence, hash }) => {
      if (!Number.isInteger(chain) || !Number.isInteger(sequence) || typeof hash !== 'string')
        throw new Error('no head')
      return { chain, sequence, hash, by: 'an earlier check' }
    })
  } catch (cause) {
    throw new Error('The file of known heads is not the --json output of an earlier check.', { cause })
  }
}
