#!/usr/bin/env node
// The agent's one program: enrol, run, status, doctor, quarantine.
import { runTool } from '../../src/lib/command.ts'
import { agentTool } from './commands/tool.ts'

runTool(agentTool, process.argv.slice(2)).then(code => {
  process.exitCode = code
})
