// Whether PostgreSQL can archive its log, for metrics: what it cannot archive it keeps, until its disk is full.
// https://www.postgresql.org/docs/18/monitoring-stats.html#MONITORING-PG-STAT-ARCHIVER-VIEW
import type { Backlog } from './backlog.ts'

/** Zero where no log is archived. */
export const archiveBacklog: Backlog = {
  name: 'archive',
  query: `select (is_on and last_failed_time > coalesce(last_archived_time, '-infinity'))::int as database_log_archive_failing,
      case when is_on then extract(epoch from now() - coalesce(last_archived_time, stats_reset))::float8 else 0 end
        as database_log_archived_seconds
    from (select current_setting('archive_mode') <> 'off' as is_on, last_archived_time, stats_reset,
      coalesce(last_failed_time, '-infinity') as last_failed_time from pg_stat_archiver) archiver`,
  figures: [
    {
      name: 'database_log_archive_failing',
      help: '1 if the last attempt to archive the log of the database failed, otherwise 0.',
    },
    {
      name: 'database_log_archived_seconds',
      help: 'Seconds since a segment of the log of the database was archived; 0 if the log is not archived.',
    },
  ],
}
