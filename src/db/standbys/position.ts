// Places in the log of a cluster: what a primary has acknowledged, and how far a standby shows it
// (https://www.postgresql.org/docs/18/functions-admin.html#FUNCTIONS-ADMIN-BACKUP).

/** A place in the log: bytes since its beginning, on a timeline. After a promotion the same place exists on two timelines. */
export interface Position {
  readonly bytes: number
  readonly timeline: number
}

/** Where a standby is: `timeline` is null while it does not stream from its primary. */
export interface Replayed {
  readonly isStandby: boolean
  readonly bytes: number | null
  readonly timeline: number | null
  /** False if the role may not see whether it streams. */
  readonly isVisible: boolean
}

/** The server that answers. */
export interface Identity {
  /** Of the cluster: the primary and its standbys have it in common, and copies of them do, too. */
  readonly cluster: string
  readonly database: string
  /** Another one after each start. */
  readonly start: string
}

/**
 * The place up to which the primary has acknowledged all that it has acknowledged. Commits wait until the log is flushed, unless the
 * server is set up not to: then they count as soon as they are in the log.
 */
export const acknowledged = {
  name: 'acknowledged-position',
  text: `select (case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
        else pg_current_wal_flush_lsn() end - '0/0'::pg_lsn)::bigint as bytes,
      ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint as timeline`,
  values: [],
}

export const replayed = {
  name: 'replayed-position',
  text: `select pg_is_in_recovery() as "isStandby", (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint as bytes,
      w.received_tli as timeline, w.pid is null or w.status is not null as "isVisible"
    from (values (true)) one left join pg_stat_wal_receiver w on w.status is null or w.status = 'streaming'`,
  values: [],
}

export const identity = {
  text: `select system_identifier::text as cluster, current_database() as database, pg_postmaster_start_time()::text as start
    from pg_control_system()`,
  values: [],
}

/** Writes a probe to the primary, and removes those that nobody looks for any more. */
export const probing = {
  text: `with old as (delete from standby_probe where written_at < now() - interval '1 minute')
    insert into standby_probe (probe) values (gen_random_uuid()) returning probe::text`,
  values: [],
}

/** Looks for a probe on a standby. */
export const probed = (probe: string) => ({
  text: 'select exists (select from standby_probe where probe = $1) as "isThere"',
  values: [probe],
})

/** True if what the primary had acknowledged at the position can be seen on the standby. */
export const hasReached = (standby: Replayed, { bytes, timeline }: Position): boolean =>
  standby.isStandby && standby.timeline === timeline && standby.bytes !== null && standby.bytes >= bytes
