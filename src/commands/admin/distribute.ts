// npm run admin -- distribute: puts the tables of resources on the nodes of a Citus cluster.
import { type Cluster, clusterOf, distribute, type TablePlan } from '../../access/distribution.ts'
import { UsageError } from '../../lib/command.ts'
import { type AdminCommand, listing, mustBeNone } from './command.ts'

/** Parts of each table that suit a few up to a few dozen workers. */
const usualShards = 32

export const distributeCommand: AdminCommand = {
  name: 'distribute',
  usage: '[--shards N] [--with-rows] [--yes]',
  summary: 'Distribute the tables of resources over the workers of a Citus cluster',
  details: [
    'Shows what it would do. With --yes it does it, in one transaction: after an error, nothing has changed. What is',
    'distributed already stays as it is. Stop the service before, and start it again with DATABASE_LAYOUT=distributed.',
    'The number of parts cannot be changed without moving all rows: choose several for each worker that you may ever have.',
  ].join('\n'),
  options: {
    shards: { value: 'N', meaning: `parts of each table, 1 to 1024 (default ${usualShards})` },
    'with-rows': { meaning: 'move the rows that the tables have; without it, only empty tables are distributed' },
    yes: { meaning: 'do it' },
  },
  run(call) {
    mustBeNone(call)
    const shards = shardsOf(call.text('shards'))
    return call.database.transaction(async on => {
      const cluster = await clusterOf(on)
      const due = cluster.tables.filter(each => !each.isDone)
      const problems = due.length === 0 ? [] : problemsOf(cluster, due, call.isSet('with-rows'))
      const isDoing = call.isSet('yes') && due.length > 0 && problems.length === 0
      if (isDoing) await distribute(on, cluster, shards)
      return {
        isGood: problems.length === 0,
        text: [
          planText(cluster, shards),
          ...problems.map(each => `Problem: ${each}\n`),
          outcome({ due, problems, isDoing }),
        ].join(''),
        json: { ...cluster, citus: cluster.citus ?? null, shards, problems, distributed: isDoing },
      }
    })
  },
}

/** @throws UsageError */
function shardsOf(given: string | undefined): number {
  const number = Number(given ?? usualShards)
  if (Number.isInteger(number) && number >= 1 && number <= 1024) return number
  throw new UsageError('--shards must be a whole number from 1 to 1024')
}

/** What speaks against it, and what to do. */
function problemsOf(cluster: Cluster, due: readonly TablePlan[], isMoving: boolean): string[] {
  const { citus, workers, failing, isCoordinator, services } = cluster
  if (citus === undefined) return ['The database does not have the extension citus: create it on every node.']
  const problems: string[] = []
  if (!isCoordinator)
    problems.push('The workers do not know this server: select citus_set_coordinator_host(HOST, PORT).')
  if (workers === 0) problems.push('There is no worker: select citus_add_node(HOST, PORT) for each.')
  if (failing.length > 0) problems.push(`Nodes are out of use: ${failing.join(', ')}. Activate or remove them.`)
  if (services > 0) problems.push(`The service is running (${services} connections): stop all of its processes.`)
  const filled = due.filter(each => each.hasRows).map(each => each.name)
  if (filled.length > 0 && !isMoving)
    problems.push(`Tables have rows: ${filled.join(', ')}. Make a backup, then add --with-rows to move them.`)
  return problems
}

function planText({ citus, workers, tables }: Cluster, shards: number): string {
  const wayOf = ({ way, isDone }: TablePlan): string => {
    if (way === 'copy') return isDone ? 'has a copy on every node' : 'gets a copy on every node'
    return isDone ? 'is distributed by shard' : `by shard, in ${shards} parts`
  }
  const rows = tables.map(each => [each.name, `${wayOf(each)} (${each.bytes} bytes on this server)`] as const)
  return listing([
    ['citus', citus ?? 'none'],
    ['workers', String(workers)],
    ...rows,
    ['parts of one bucket', 'stay together'],
    ['all other tables', 'stay on this server'],
  ])
}

function outcome({
  due,
  problems,
  isDoing,
}: {
  due: readonly unknown[]
  problems: readonly string[]
  isDoing: boolean
}): string {
  if (due.length === 0) return 'All of them are distributed: nothing to do.\n'
  if (problems.length > 0) return 'Nothing was changed.\n'
  return isDoing
    ? 'Distributed. Start the service with DATABASE_LAYOUT=distributed.\n'
    : 'Nothing was changed: add --yes to do it.\n'
}
