-- What only a superuser can prepare, once a cluster: the four roles, the extension and the
-- leakproof mark in template1 (so that test databases have them too), and the database.
-- Run by psql; may run again at any time, and must after restoring a dump (a dump loses the
-- leakproof mark). Used by the embedded services and, mounted, by docker compose.
\set ON_ERROR_STOP on
set client_min_messages = warning;

select 'create role ' || wanted.rolname || ' ' || wanted.options
  from (values
    ('legalqa_owner', 'login createdb'),     -- migrations, test databases
    ('legalqa_app', 'login'),                -- web and worker
    ('legalqa_reader', 'nologin'),           -- taken for one transaction by reading_as
    ('legalqa_backup', 'login bypassrls')    -- dumps, and nothing else
  ) as wanted (rolname, options)
 where not exists (select from pg_roles where pg_roles.rolname = wanted.rolname) \gexec

alter role legalqa_owner nosuperuser nobypassrls createdb;
alter role legalqa_app nosuperuser nobypassrls nocreatedb nocreaterole;
alter role legalqa_reader nosuperuser nobypassrls nologin;
-- Inherited, the reader's policy would apply without the role being taken.
grant legalqa_reader to legalqa_app with inherit false, set true;
grant pg_read_all_data to legalqa_backup;

-- Over a network the roles need passwords; on the embedded services' private socket none.
\getenv owner_password LEGALQA_OWNER_PASSWORD
\if :{?owner_password}
alter role legalqa_owner password :'owner_password';
\endif
\getenv app_password LEGALQA_APP_PASSWORD
\if :{?app_password}
alter role legalqa_app password :'app_password';
\endif
\getenv backup_password LEGALQA_BACKUP_PASSWORD
\if :{?backup_password}
alter role legalqa_backup password :'backup_password';
\endif

\connect template1
set client_min_messages = warning;
create extension if not exists vector;
alter function pg_catalog.arrayoverlap(anyarray, anyarray) leakproof;
revoke create on schema public from public;
-- What migrations make as the owner, the application may use; policies limit it to rows.
alter default privileges for role legalqa_owner in schema public
  grant select, insert, update, delete on tables to legalqa_app;
alter default privileges for role legalqa_owner in schema public
  grant usage, select on sequences to legalqa_app;

select 'create database legalqa owner legalqa_owner'
 where not exists (select from pg_database where datname = 'legalqa') \gexec
revoke temporary on database legalqa from public;

\connect legalqa
set client_min_messages = warning;
create extension if not exists vector;
alter function pg_catalog.arrayoverlap(anyarray, anyarray) leakproof;
revoke create on schema public from public;
-- What migrations make as the owner, the application may use; policies limit it to rows.
alter default privileges for role legalqa_owner in schema public
  grant select, insert, update, delete on tables to legalqa_app;
alter default privileges for role legalqa_owner in schema public
  grant usage, select on sequences to legalqa_app;
