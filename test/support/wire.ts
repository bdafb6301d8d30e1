// A wire between the service and a PostgreSQL server, which loses answers.
import { connect, createServer, type Socket } from 'node:net'
import { onCleanup } from './cleanup.ts'

export interface Wire {
  readonly port: number
  /**
   * From the message to the server on that holds this text, nothing comes back on its connection. Resolves once the server has answered
   * what came before the end of that message, and the connection is cut.
   * @param times so many messages, one after the other; default: 1
   */
  loseAnswerTo(text: string, times?: number): Promise<void>
}

/** Starts a wire to a port of the loopback address or a Unix socket; it ends after the file's last test. */
export async function startWire(to: number | string): Promise<Wire> {
  const sockets = new Set<Socket>()
  let losing: { readonly text: string; readonly lost: () => void } | undefined
  const server = createServer(near => {
    const far = typeof to === 'string' ? connect(to) : connect(to, '127.0.0.1')
    let lost: (() => void) | undefined
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        sockets.delete(socket)
      })
    }
    near.on('data', sent => {
      if (losing && sent.includes(losing.text)) {
        lost = losing.lost
        losing = undefined
      }
      far.write(sent)
    })
    far.on('data', answer => {
      if (!lost) return void near.write(answer)
      near.destroy()
      lost()
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onCleanup(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: (server.address() as { port: number }).port,
    async loseAnswerTo(text, times = 1) {
      for (let left = times; left > 0; left--) await new Promise<void>(done => (losing = { text, lost: done }))
    },
  }
}
