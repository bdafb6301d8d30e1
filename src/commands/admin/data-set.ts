// npm run admin -- data-set …: what the data set is called, wherever it is served (docs/architecture.md, "The identity of a data set").

import { UsageError } from '../../lib/command.ts'
import { settings } from '../../lib/config.ts'
import { Failure } from '../../lib/failure.ts'
import { type DataSet, giveIssuer, readDataSet } from '../../store/data-set.ts'
import { type AdminCall, type AdminCommand, listing, mustBeNone, theOne } from './command.ts'

export const dataSetShow: AdminCommand = {
  name: 'data-set show',
  usage: '',
  summary: 'Show the origin of the data set, its token issuer and all its current and former addresses',
  details: 'Identifier systems start with the origin: ORIGIN/fhir/NamingSystem/health-id.',
  options: {},
  async run(call) {
    mustBeNone(call)
    return shown(await known(call))
  },
}

export const dataSetIssuer: AdminCommand = {
  name: 'data-set issuer',
  usage: 'URL',
  summary: 'Change the token issuer of the data set',
  details:
    'Use this after the service has moved permanently. Restart the service: it then refuses tokens of the former issuer.',
  options: {},
  async run(call) {
    const text = theOne(call, 'URL')
    await known(call)
    await giveIssuer(call.database, issuerIn(text))
    return shown(await known(call))
  },
}

function issuerIn(text: string): string {
  try {
    return settings.baseUrl.parse(text)
  } catch (error) {
    throw new UsageError(`${text} is not an issuer: write ${(error as Error).message}`)
  }
}

/** @throws Failure NOT_FOUND before the first start. */
async function known({ database }: AdminCall): Promise<DataSet> {
  const found = await readDataSet(database)
  if (found) return found
  throw new Failure('NOT_FOUND', 'The data set has no identity yet: start the service once.')
}

function shown({ origin, issuer, addresses }: DataSet) {
  return {
    isGood: true,
    text: listing([
      ['origin', origin],
      ['issuer', issuer ?? 'none before the first start'],
      ...addresses.map(each => ['address', each] as const),
    ]),
    json: { origin, issuer: issuer ?? null, addresses },
  }
}
