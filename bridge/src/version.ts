// The version of this agent, as the server and `agent status` show it.
import manifest from '../package.json' with { type: 'json' }

export const version: string = manifest.version
