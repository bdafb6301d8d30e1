// npm run admin -- search-parameter …: the search parameters that users defined, and switching one off that does harm.
import { UsageError } from '../../lib/command.ts'
import {
  listLeftOut,
  listParameters,
  resumeParameters,
  type Shown,
  suspendParameters,
} from '../../store/search-params/operator.ts'
import { type AdminCommand, listing, mustBeNone } from './command.ts'

export const searchParameterList: AdminCommand = {
  name: 'search-parameter list',
  usage: '',
  summary: 'List the search parameters that clients defined, with the reason for each suspension',
  details: 'Also lists resources that could not be indexed by a new parameter.',
  options: {},
  async run(call) {
    mustBeNone(call)
    const [parameters, leftOut] = await Promise.all([listParameters(call.database), listLeftOut(call.database)])
    const rows = [
      ...parameters.map(described),
      ...leftOut.map(each => `${each.resource} is not indexed: ${each.reason}\n`),
    ]
    return {
      isGood: true,
      text: rows.join('\n') || 'No search parameters are defined.\n',
      json: { search_parameters: parameters.map(plain), left_out: leftOut },
    }
  },
}

export const searchParameterSuspend: AdminCommand = {
  name: 'search-parameter suspend',
  usage: 'ID REASON',
  summary: 'Suspend a SearchParameter: indexing stops, and searches with it are refused with the reason',
  details: 'It stays suspended until it is resumed or its owner changes the expression.',
  options: {},
  async run({ positionals, database }) {
    const [id, reason, ...more] = positionals
    if (id === undefined || !reason || reason.length > 500 || more.length > 0)
      throw new UsageError('specify the id of one SearchParameter and a quoted reason of at most 500 characters')
    const codes = await suspendParameters(database, id, reason)
    return { isGood: true, text: `Suspended: ${codes.join(', ')}.\n`, json: { id, suspended: codes } }
  },
}

export const searchParameterResume: AdminCommand = {
  name: 'search-parameter resume',
  usage: 'ID',
  summary: 'Resume a suspended SearchParameter and index all resources of its types again',
  details: 'It is suspended again if its expression is still too expensive on a resource.',
  options: {},
  async run({ positionals, database }) {
    const [id, ...more] = positionals
    if (id === undefined || more.length > 0) throw new UsageError('specify the id of one SearchParameter')
    const codes = await resumeParameters(database, id)
    return { isGood: true, text: `Resumed: ${codes.join(', ')}.\n`, json: { id, resumed: codes } }
  },
}

const plain = ({ id, type, code, client, isReady, suspended }: Shown) => ({
  id,
  parameter: `${type}.${code}`,
  client_id: client || null,
  status: suspended ? 'suspended' : isReady ? 'in use' : 'being indexed',
  suspended_by: suspended ? (suspended.cause === 'operator' ? 'operator' : 'service') : null,
  reason: suspended?.reason ?? null,
  suspended_at: suspended?.since ?? null,
})

function described(shown: Shown): string {
  const { id, parameter, client_id, status, suspended_by, reason } = plain(shown)
  return listing([
    ['id', id],
    ['parameter', parameter],
    ['client', client_id ?? 'the service'],
    ['status', suspended_by === null ? status : `${status} by the ${suspended_by}: ${reason}`],
  ])
}
