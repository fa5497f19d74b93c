#!/bin/sh
# Runs once, when the image of PostgreSQL creates its data folder: an ordinary role that owns
# Beckon's database, so that row-level security applies to it.
set -eu
password=$(cat "$POSTGRES_PASSWORD_FILE")
psql --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 --set password="$password" <<'SQL'
create role beckon login password :'password';
create database beckon owner beckon encoding 'UTF8' template template0;
SQL
