// Offers an agent the commands that wait for it. A message of a resource is made now: of the resource as it is, as far as the
// subscriber may read it, by the map as it is.
import { createCaller, system } from '../access/caller.ts'
import type { Queryable } from '../db/statement.ts'
import { findClient } from '../identity/clients.ts'
import { Failure } from '../lib/failure.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import { cutAt } from '../lib/text.ts'
import type { Mappings } from '../mapping/mappings.ts'
import { composeMessage, type MessageHeader } from '../mapping/message-out.ts'
import type { MessageContext } from '../mapping/messages.ts'
import { asOperation } from '../store/operation.ts'
import type { Principal } from '../store/principal.ts'
import { asPart, inUnitOfWork } from '../store/unit-of-work.ts'
import { collected } from './collect.ts'
import { type Command, type MessageSource, type PendingCommand, pendingCommands } from './commands.ts'
import type { AgentCall, BridgeParts } from './parts.ts'
import { cameFrom } from './sourced.ts'

export interface OfferParts extends BridgeParts {
  readonly mappings: Pick<Mappings, 'set' | 'program'>
}

/** Several messages that resources make fit into an answer that an agent reads, of 8 MB. */
const longest = 1_000_000

/** Returns the commands after one (id) that wait for the agent, oldest first. What cannot be made is ended, and not offered. */
export async function offeredCommands(parts: OfferParts, call: AgentCall, after = '0'): Promise<Command[]> {
  for (let last = after; ; ) {
    const { commands, isMore } = await pendingCommands(parts.databaseFor(call.caller), call.caller.clientId, last)
    const offered: Command[] = []
    for (const each of commands) {
      const ready = each.source ? await prepared(parts, call, each, each.source) : each
      if (ready) offered.push(ready)
    }
    if (offered.length > 0 || !isMore) return offered
    last = commands.at(-1)!.id
  }
}

/** How a command ends that the agent never sees. */
interface Ended {
  readonly status: 'done' | 'failed'
  readonly message: string
}

type Made = { readonly text: string; readonly version: number } | Ended

const unmade: Made = { status: 'failed', message: 'The message was not made.' }

/** Returns the command with its message; undefined if it has ended, since nothing is to be sent. */
async function prepared(
  parts: OfferParts,
  call: AgentCall,
  command: PendingCommand,
  source: MessageSource,
): Promise<Command | undefined> {
  const { id } = command
  return inUnitOfWork(parts.unitOfWork, call.caller, async (caller, on) => {
    if (!(await held(on, id))) return undefined
    let made: Made = unmade
    const failure = await asPart(caller, namedBy(id, source), async part => {
      made = await message(parts, { ...call, caller: part }, command, source, part.within)
    })
    if (failure) {
      parts.log.warn({ err: failure, command: id, agent: caller.clientId }, 'bridge: could not make a message')
      return end(on, id, { status: 'failed', message: failure.message.slice(0, 1000) })
    }
    if ('status' in made) return end(on, id, made)
    await on.run({
      name: 'bridge-command-offered',
      text: 'update bridge_command set resource_version = $2 where id = $1::bigint',
      values: [id, made.version],
    })
    return { ...command, payload: { target: command.payload['target'], message: made.text } }
  })
}

/** Holds a command until the transaction ends, so that no change is missed; false if it has ended meanwhile. */
async function held(on: Queryable, id: string): Promise<boolean> {
  const rows = await on.query({
    name: 'bridge-command-hold',
    text: `update bridge_command set resource_version = coalesce(resource_version, 0)
      where id = $1::bigint and status = 'pending' returning id`,
    values: [id],
  })
  return rows.length > 0
}

async function end(on: Queryable, id: string, { status, message }: Ended): Promise<undefined> {
  await on.run({
    name: 'bridge-command-unsent',
    text: `update bridge_command set status = $2, message = $3, acknowledged_at = now()
      where id = $1::bigint and status = 'pending'`,
    values: [id, status, message],
  })
}

/** How the audit trail names what is disclosed by a command. */
const namedBy = (id: string, { resource, subscription }: MessageSource) => {
  const [type, own] = cutAt(resource, '/')
  return { type, id: own, query: `bridge/commands/${id}?subscription=${subscription}` }
}

/** Makes the message, or says why there is none. @throws Failure if it cannot be made */
async function message(
  parts: OfferParts,
  call: AgentCall,
  { id, payload }: PendingCommand,
  source: MessageSource,
  on: Queryable,
): Promise<Made> {
  const principal = await subscriberOf(parts, on, call, source)
  if (!principal) return { status: 'failed', message: 'The Subscription or its client is no longer active.' }
  const [type] = cutAt(source.resource, '/')
  const route = parts.mappings.set().outgoing.get(type)
  if (!route) throw new Failure('VALIDATION_FAILED', `No map makes an HL7 v2 message of ${type}.`)
  return asOperation<AgentCall['caller'], Made>(call.caller, namedBy(id, source), async () => {
    const { resource, version, bundle, patients, count } = await collected(parts, principal, route, source.resource)
    const sent = await sentBefore(on, id, call.caller.clientId, source)
    const unsent =
      sent === version
        ? 'This version was sent before.'
        : cameFrom(resource, call.caller.clientId)
          ? 'The resource came from this agent.'
          : undefined
    if (unsent !== undefined) return { result: { status: 'done', message: unsent }, patients: [], resources: 0 }
    const program = parts.mappings.program(route.map)
    const content = program.sources[0]?.type === 'Bundle' ? bundle : resource
    const context = contextOf(parts, call, sent !== undefined)
    const text = composeMessage(parts.mappings, route.map, content, context, headerFor(call, id, payload, context))
    if (text.length > longest)
      throw new Failure('VALIDATION_FAILED', `The message has more than ${longest} characters.`)
    return { result: { text, version }, patients, resources: count }
  })
}

/** The client that subscribed, as it reads now; undefined if it may no longer receive anything for this agent. */
async function subscriberOf(
  { storeFor }: OfferParts,
  on: Queryable,
  { caller }: AgentCall,
  { clientId, subscription }: MessageSource,
): Promise<Principal | undefined> {
  const found = await findClient(on, clientId)
  const client = found?.client
  if (!client || client.revokedAt || client.organizationId !== caller.organizationId) return undefined
  const [type, id] = cutAt(subscription, '/')
  const { body } = await storeFor({ ...system, within: caller.within }).read(type, id)
  if ((parseJson(body) as JsonObject)['status'] !== 'active') return undefined
  const { organizationId, scopes, consentExempt } = client
  const { within, at } = caller
  return { ...createCaller({ clientId, organizationId, scopes, consentExempt }), within, at }
}

/** The version of the resource that was last offered to the receiver by another command; undefined: none. */
async function sentBefore(
  on: Queryable,
  id: string,
  agent: string,
  { resource, subscription }: MessageSource,
): Promise<number | undefined> {
  const [row] = await on.query<{ version: number }>({
    name: 'bridge-message-sent',
    text: `select resource_version as version from bridge_command
      where agent_id = $2 and resource = $3 and subscription = $4 and id < $1::bigint and status not in ('failed', 'repeated') and resource_version > 0
      order by id desc limit 1`,
    values: [id, agent, resource, subscription],
  })
  return row?.version
}

function contextOf(parts: OfferParts, call: AgentCall, wasSent: boolean): MessageContext {
  const { organizationId, facilityId } = call.caller
  return {
    ...parts.translator.contextOf(call),
    received_at: parts.now().toISOString().replace(/\.\d+/, ''),
    namespace: `${parts.addresses.numbers}${organizationId}/${facilityId}`,
    time_zone: parts.timeZone,
    was_sent: wasSent,
  }
}

function headerFor(
  { caller }: AgentCall,
  controlId: string,
  { header = {} }: JsonObject,
  { received_at: sentAt }: MessageContext,
): MessageHeader {
  const own = header as Readonly<Record<string, string>>
  return {
    ...{ controlId, sentAt },
    sendingApplication: own['MSH-3'] ?? 'HEALTH-INTEROP',
    sendingFacility: own['MSH-4'] ?? caller.organizationId,
    receivingApplication: own['MSH-5'] ?? '',
    receivingFacility: own['MSH-6'] ?? caller.facilityId,
    ...(own['MSH-11'] && { processingId: own['MSH-11'] }),
    ...(own['MSH-12'] && { version: own['MSH-12'] }),
  }
}
