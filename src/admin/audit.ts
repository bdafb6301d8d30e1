// npm run admin -- audit …: whether the audit trail is what was written.
import { readFile } from 'node:fs/promises'
import { sealingKey } from '../audit/chain.ts'
import { toldHeads, verdictText } from '../audit/verdict.ts'
import { verifyTrail } from '../audit/verify.ts'
import { UsageError } from '../lib/command.ts'
import { encryptionKey } from '../lib/encryption.ts'
import { type Call, type Command, mustBeNone } from './command.ts'

export const auditVerify: Command = {
  name: 'audit verify',
  usage: '[--known FILE]',
  summary: 'Checks the whole audit trail, and names the first broken row of each chain',
  details: [
    'Every row is checked against its hash and the row before it, every chain against its sealed head, and the chains',
    'against each other. Others may go on writing. Keep the answer of --json where nobody changes it: it holds the head of',
    'each chain. Exit code 1 also if the trail could not be checked.',
  ].join('\n'),
  options: {
    known: {
      value: 'FILE',
      meaning:
        'the --json answer of an earlier check, whose heads must still be there: nothing was cut off and sealed anew',
    },
  },
  async run(call) {
    mustBeNone(call)
    const known = await knownHeads(call)
    const verdict = await verifyTrail(call.database, sealingKey(await encryptionKey(call.config)), known)
    return { isGood: verdict.isWhole, text: verdictText(verdict), json: verdict }
  },
}

/** @throws UsageError if the file cannot be read, or is none. */
async function knownHeads(call: Call): Promise<ReturnType<typeof toldHeads>> {
  const file = call.text('known')
  if (file === undefined) return []
  try {
    return toldHeads(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
