// What a check of the audit trail found, for people; and the heads that an earlier check told.
import type { Head } from './chain.ts'
import type { Break, Verdict } from './verify.ts'

/** The verdict in lines of text. */
export function verdictText({ isWhole, chains, rows, broken }: Verdict): string {
  if (isWhole) return `The audit trail is whole: ${rows} rows in ${chains} chains.\n`
  const [first] = broken
  return [
    `The audit trail is broken, first at ${placeOf(first!)}.`,
    ...broken.map(each => `  ${placeOf(each)}: ${each.problem}`),
    `Good: ${rows} rows of ${chains} chains.`,
    '',
  ].join('\n')
}

const placeOf = ({ chain, sequence }: Break): string =>
  sequence === undefined ? `chain ${chain}` : `chain ${chain}, row ${sequence} (AuditEvent/${chain}-${sequence})`

/** The heads in the JSON of a verdict. @throws Error if there are none. */
export function toldHeads(text: string): Head[] {
  try {
    const { heads } = JSON.parse(text) as { heads: Head[] }
    return heads.map(({ chain, sequence, hash }) => {
      if (!Number.isInteger(chain) || !Number.isInteger(sequence) || typeof hash !== 'string')
        throw new Error('no head')
      return { chain, sequence, hash }
    })
  } catch (cause) {
    throw new Error('The file of known heads is not the JSON answer of an earlier check.', { cause })
  }
}
