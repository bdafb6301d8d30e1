-- Former versions that a client can see of few patients are found from the patients, and from the client, as current ones are.
create index history_subject on history (subject, type) where subject not in (0, 1);
create index history_about on history using gin (about) where about is not null;
create index history_author on history (author, type) where author <> 0;
