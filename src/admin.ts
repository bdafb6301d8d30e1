// npm run admin -- COMMAND …
import { adminTool } from './admin/tool.ts'
import { runTool } from './lib/command.ts'

process.exitCode = await runTool(adminTool(process.env), process.argv.slice(2))
