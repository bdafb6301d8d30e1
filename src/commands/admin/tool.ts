// What an administrator does: clients, agents, users, patients' codes, subscriptions, signing keys, the audit trail, backups.

import { BackupError } from '../../db/backup/manifest.ts'
import { EmbeddedError } from '../../db/embedded-account.ts'
import type { Arguments, CommandResult, Tool } from '../../lib/command.ts'
import { archiveOf, type Config, ConfigError, readConfig } from '../../lib/config.ts'
import { Failure } from '../../lib/failure.ts'
import { agentCommand, agentCommands, agentConfigure, agentRepeat } from './agent-orders.ts'
import { agentCreate, agentList, agentRevoke, agentRotateKey } from './agents.ts'
import { auditVerify } from './audit.ts'
import { auditArchive, auditPeriods } from './audit-archive.ts'
import { backup, backups, restore } from './backups.ts'
import { clientCreate, clientList, clientRevoke, clientRotateSecret, clientSetKeys } from './clients.ts'
import type { AdminCall, AdminCommand } from './command.ts'
import { dataSetIssuer, dataSetShow } from './data-set.ts'
import { distributeCommand } from './distribute.ts'
import { keysRotate } from './keys.ts'
import { patientEnrol, patientUnenrol } from './patients.ts'
import { searchParameterList, searchParameterResume, searchParameterSuspend } from './search-parameters.ts'
import { subscriptionList, subscriptionPayload } from './subscriptions.ts'
import { userCreate, userDisable, userList, userResetPassword } from './users.ts'

/** The tool that `npm run admin` is, with these settings. */
export const adminTool = (environment: Readonly<Record<string, string | undefined>>): Tool<AdminCall> => ({
  name: 'npm run admin --',
  about:
    'Uses the database of DATABASE_URL, or the embedded one of DATA_DIR, which only client, agent and user create make. Can be used while the service runs.',
  footer: ['Exit code: 0 on success, 1 on failure, 2 for wrong arguments.'],
  options: {},
  commands: [
    clientCreate,
    clientList,
    clientRotateSecret,
    clientSetKeys,
    clientRevoke,
    agentCreate,
    agentList,
    agentRotateKey,
    agentRevoke,
    agentCommand,
    agentCommands,
    agentRepeat,
    agentConfigure,
    userCreate,
    userList,
    userResetPassword,
    userDisable,
    patientEnrol,
    patientUnenrol,
    subscriptionList,
    subscriptionPayload,
    searchParameterList,
    searchParameterSuspend,
    searchParameterResume,
    keysRotate,
    dataSetShow,
    dataSetIssuer,
    auditVerify,
    auditPeriods,
    auditArchive,
    distributeCommand,
    ...onFiles,
  ],
  perform(command, given) {
    const config = readConfig(environment)
    const alone = onFiles.find(each => each === command)
    return alone ? alone.run({ ...given, config }) : perform(command, given, config)
  },
  explain(error) {
    const isPlain = plainErrors.some(kind => error instanceof kind) || (error instanceof Error && 'syscall' in error)
    return isPlain ? (error as Error).message : undefined
  },
})

/** Commands before which the database is neither opened nor migrated. */
const onFiles = [backup, backups, restore]

/** Commands that may be the first to use an embedded database, before the service starts: they create it. */
const onNew = [clientCreate, agentCreate, userCreate]

const plainErrors = [Failure, ConfigError, EmbeddedError, BackupError]

/** Runs a command on the database, which is open only as long as it takes. Help loads nothing of it. */
async function perform(command: AdminCommand, given: Arguments, config: Config): Promise<CommandResult> {
  const [{ openDatabase }, { borrowEmbedded, mustHoldDatabase }, { migrate }, { createLog }] = await Promise.all([
    import('../../db/database.ts'),
    import('../../db/embedded.ts'),
    import('../../db/migrate.ts'),
    import('../../lib/log.ts'),
  ])
  if (config.databaseUrl === '' && !onNew.includes(command)) await mustHoldDatabase(config.dataDir)
  const embedded =
    config.databaseUrl === ''
      ? await borrowEmbedded(config.dataDir, 10, createLog('warn'), archiveOf(config))
      : undefined
  const database = openDatabase(embedded?.connection ?? config.databaseUrl, {
    poolSize: 2,
    statementTimeout: 0,
    layout: config.databaseLayout,
  })
  try {
    await migrate(database)
    return await command.run({ ...given, config, database })
  } finally {
    await database.end()
    await embedded?.stop()
  }
}
