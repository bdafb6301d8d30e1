// The tables of the agent's database, each explained where it is made.

const kept = (table: string): string => `
  create trigger if not exists ${table}_added after insert on ${table} begin
    update tally set count = count + 1, bytes = bytes + length(new.payload) where name = '${table}';
  end;
  create trigger if not exists ${table}_removed after delete on ${table} begin
    update tally set count = count - 1, bytes = bytes - length(old.payload) where name = '${table}';
  end;`

/** Statements that make the tables of a new database. */
export const schema = `
  -- Single values by name, as JSON: next_seq, clock_offset, keys (sealed), server_config, last_contact and others.
  create table if not exists meta (name text primary key, value) without rowid;

  -- What is to be sent, in the order in which it was received (id). A row exists from before the sender gets its
  -- acknowledgement until the server has said that the item is done, or until it moves to quarantine.
  -- seq and batch_id are given when the item first becomes part of a batch; seq stays. payload is sealed JSON.
  create table if not exists item (
    id integer primary key,
    item_id text not null unique,
    source text not null,
    type text not null,
    op text not null,
    occurred_at text not null,
    received_at integer not null,
    payload blob not null,
    seq integer unique,
    batch_id text,
    attempts integer not null default 0
  );

  -- The batch that was sent, or is about to be: at most one. It is sent with the same items, in the same words, until the
  -- answer is clear. skipped: numbers of the sequence that it declares as given up, as JSON.
  create table if not exists batch (batch_id text primary key, facility_id text, skipped text not null, digest text not null);

  -- Numbers of the sequence that will never be sent, to be declared with the next batch.
  create table if not exists skipped (seq integer primary key);

  -- Sources whose next item failed for a while: their other items wait until it is done, or is quarantined.
  create table if not exists hold (source text primary key, item integer not null, until integer not null) without rowid;

  -- What was refused, with the reason: by the server (origin server), by the agent when it was received (intake), or after
  -- too many attempts (attempts). reason and payload are sealed.
  create table if not exists quarantine (
    item_id text primary key,
    source text not null,
    type text not null,
    op text not null,
    occurred_at text not null,
    quarantined_at integer not null,
    payload blob not null,
    origin text not null,
    code text not null,
    field text,
    reason blob not null
  ) without rowid;

  -- Fingerprints of what was received of late: the same message sent again is acknowledged and not stored again.
  create table if not exists seen (fingerprint blob primary key, at integer not null) without rowid;

  -- Files whose items are stored and that are not yet moved out of their folder.
  create table if not exists file (source text, name text, digest blob not null, primary key (source, name)) without rowid;

  -- Commands of the server: status new, done or failed; told: whether the server knows. payload is sealed.
  create table if not exists command (
    place integer primary key,
    id text not null unique,
    type text not null,
    payload blob not null,
    status text not null default 'new',
    message text,
    key_sha256 text,
    attempts integer not null default 0,
    not_before integer not null default 0,
    told integer not null default 0
  );

  -- Count and bytes of item and quarantine, kept by triggers so that no one has to count.
  create table if not exists tally (name text primary key, count integer not null, bytes integer not null) without rowid;
  insert or ignore into tally values ('item', 0, 0), ('quarantine', 0, 0);
  ${['item', 'quarantine'].map(kept).join('')}
`
