// npm run admin -- COMMAND …: what an administrator does: clients, agents, users, patients' codes, subscriptions, signing keys, the audit trail.

import { agentCreate, agentList, agentRevoke, agentRotateKey } from './admin/agents.ts'
import { auditVerify } from './admin/audit.ts'
import { clientCreate, clientList, clientRevoke, clientRotateSecret, clientSetKeys } from './admin/clients.ts'
import type { Call, Command } from './admin/command.ts'
import { dataSetIssuer, dataSetShow } from './admin/data-set.ts'
import { keysRotate } from './admin/keys.ts'
import { patientEnrol, patientUnenrol } from './admin/patients.ts'
import { searchParameterList, searchParameterResume, searchParameterSuspend } from './admin/search-parameters.ts'
import { subscriptionList, subscriptionPayload } from './admin/subscriptions.ts'
import { userCreate, userDisable, userList, userResetPassword } from './admin/users.ts'
import { openDatabase } from './db/database.ts'
import { borrowEmbedded, EmbeddedError } from './db/embedded.ts'
import { migrate } from './db/migrate.ts'
import { type Answer, type Arguments, runTool, type Tool } from './lib/command.ts'
import { ConfigError, readConfig } from './lib/config.ts'
import { Failure } from './lib/failure.ts'
import { createLog } from './lib/log.ts'

const tool: Tool<Call> = {
  name: 'npm run admin',
  about: 'Works on the database of DATABASE_URL, or on the embedded one of DATA_DIR, also while the service runs.',
  footer: ['Exit code 0 if it was done, 1 if it could not be done, 2 for wrong arguments.'],
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
  ],
  perform,
  explain(error) {
    const isPlain = error instanceof Failure || error instanceof ConfigError || error instanceof EmbeddedError
    return isPlain ? error.message : undefined
  },
}

/** Runs a command on the database, which is open only as long as it takes. */
async function perform(command: Command, given: Arguments): Promise<Answer> {
  const config = readConfig()
  const embedded = config.databaseUrl === '' ? await borrowEmbedded(config.dataDir, 10, createLog('warn')) : undefined
  const database = openDatabase(embedded?.connection ?? config.databaseUrl, { poolSize: 2, statementTimeout: 0 })
  try {
    await migrate(database)
    return await command.run({ ...given, config, database })
  } finally {
    await database.end()
    await embedded?.stop()
  }
}

process.exitCode = await runTool(tool, process.argv.slice(2))
