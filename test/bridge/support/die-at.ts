// Loaded into an agent's process before the agent (node --import): kills it, as loss of power would, at the moment that DIE_AT names.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

/** `before-commit:2`: before the second commit. */
const [moment, number] = process.env['DIE_AT']!.split(':')
let left = Number(number)

function reached(place: string): void {
  if (place === moment && --left === 0) process.kill(process.pid, 'SIGKILL')
}

const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (sql) {
  if (sql === 'commit') reached('before-commit')
  exec.call(this, sql)
  if (sql === 'commit') reached('after-commit')
}

const { renameSync } = fs
fs.renameSync = (from, to) => {
  reached('before-move')
  renameSync(from, to)
  reached('after-move')
}
syncBuiltinESMExports()

const write = Socket.prototype.write as (this: Socket, ...args: unknown[]) => boolean
Socket.prototype.write = function (this: Socket, ...args: unknown[]) {
  const isAnswer = Buffer.isBuffer(args[0]) && args[0][0] === 0x0b
  if (isAnswer) reached('before-answer')
  const result = write.apply(this, args)
  if (isAnswer) setImmediate(() => reached('after-answer'))
  return result
}
