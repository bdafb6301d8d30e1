// A machine of a laboratory that receives messages over MLLP.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { framed } from '../../../bridge/src/mllp/frames.ts'
import { onCleanup } from '../../support/cleanup.ts'

export interface Machine {
  readonly port: number
  /** The messages that came, in order. */
  readonly got: string[]
  readonly server: Server
}

/** Starts a machine that answers each message as the test says; undefined: it does not answer. */
export async function startMachine(answer: (message: string) => string | undefined): Promise<Machine> {
  const got: string[] = []
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.on('data', chunk => {
      const message = chunk.toString('utf8').slice(1, -2)
      got.push(message)
      const reply = answer(message)
      if (reply !== undefined) socket.write(framed(reply))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(async () => void server.close())
  return { port: (server.address() as AddressInfo).port, got, server }
}
