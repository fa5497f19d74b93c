#!/bin/sh
# Creates Beckon's database and an ordinary role that owns it. A superuser would not do, because
# row-level security does not apply to superusers. The image of PostgreSQL runs this script once,
# when it creates its data folder. Before that, the image reads POSTGRES_PASSWORD_FILE into
# POSTGRES_PASSWORD and unsets POSTGRES_PASSWORD_FILE.
set -eu
psql --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 \
  --set password="$POSTGRES_PASSWORD" <<'SQL'
create role beckon login password :'password';
create database beckon owner beckon encoding 'UTF8' locale_provider libc lc_collate 'C' template template0;
SQL
