// The commands of the agent, as values from which help and arguments are read.
import type { Arguments, Command, CommandResult, Tool } from '../../../src/lib/command.ts'
import { Problem } from '../problem.ts'
import { doctor } from './doctor.ts'
import { enrol } from './enrol.ts'
import { quarantineCommands } from './quarantine.ts'
import { runAgent } from './run.ts'
import { showStatus } from './status.ts'

/** What a command is called with. */
export interface Call {
  readonly given: Arguments
  /** The config file. */
  readonly file: string
}

export type AgentCommand = Command<Call>

export const agentTool: Tool<Call> = {
  name: 'agent',
  about:
    'Takes HL7 v2, files and posted records of a clinic, keeps them through power cuts, and sends them to the service.',
  footer: ['The exit code is 0 if all is well, 1 if something is to be mended, 2 for wrong usage.'],
  options: { config: { value: 'FILE', meaning: 'config file (default: AGENT_CONFIG, or agent.json in this folder)' } },
  commands: [enrol, runAgent, showStatus, doctor, ...quarantineCommands],
  perform(command, given): Promise<CommandResult> | CommandResult {
    return command.run({ given, file: given.text('config') ?? process.env['AGENT_CONFIG'] ?? 'agent.json' })
  },
  explain: error => (error instanceof Problem ? error.message : undefined),
}
