// TLS of Node.js, loaded when something uses it: an agent whose machines and server need none is 5 MB smaller.

export const tls = () => process.getBuiltinModule('node:tls')

export const https = () => process.getBuiltinModule('node:https')
