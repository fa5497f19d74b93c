/**
 * Maximum MiB that PostgreSQL accepts as `max_slot_wal_keep_size`. An eighth of a network file
 * system can be more: AWS EFS reports a size of 8 EiB.
 */
const maxSlotWalMib = 2 ** 31 - 1;

/**
 * Returns PostgreSQL's settings. They are passed as arguments, which take precedence over
 * `postgresql.conf`. The operator can change all other settings in `postgresql.conf`.
 * @param options `connections`: maximum number of connections. `tcpPort`: port on 127.0.0.1;
 *   undefined if PostgreSQL must listen on its socket only. `diskBytes`: size of the disk on which
 *   the data is.
 */
export function settings({
  socketDir,
  connections,
  tcpPort,
  diskBytes,
}: {
  socketDir: string;
  connections: number;
  tcpPort: number | undefined;
  diskBytes: number;
}): Readonly<Record<string, string>> {
  const slotWalMib = Math.max(4_096, Math.floor(diskBytes / 8 / 1024 ** 2));
  return {
    listen_addresses: tcpPort === undefined ? "" : "127.0.0.1",
    port: String(tcpPort ?? 5432),
    unix_socket_directories: socketDir,
    unix_socket_permissions: "0700",
    max_connections: String(connections),

    // Beckon's durability depends on these three settings.
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    // On macOS `fsync` does not flush the drive's own cache, and `fsync_writethrough` does.
    ...(process.platform === "darwin" ? { wal_sync_method: "fsync_writethrough" } : {}),

    // A backup of a running server needs these: one connection sends the files, and its slot keeps
    // the WAL that is written meanwhile.
    wal_level: "replica",
    max_wal_senders: "4",
    max_replication_slots: "4",
    // With the default, no limit, a backup whose target is slow or hangs would fill the disk with
    // WAL, and PostgreSQL stops if its disk is full. At the limit, PostgreSQL ends the backup
    // instead. Large installations, on large disks, write more WAL during a backup.
    max_slot_wal_keep_size: `${Math.min(slotWalMib, maxSlotWalMib)}MB`,

    // These settings fit a small machine. Parallel queries need /dev/shm, of which a container has
    // 64 MB, and compete with the servers for CPU. The default of io_method, `worker`, runs three
    // more processes that help only with large scans.
    shared_buffers: "128MB",
    max_parallel_workers_per_gather: "0",
    max_parallel_maintenance_workers: "0",
    io_method: "sync",
    jit: "off",

    // Most of a small data folder is WAL. So WAL is compressed, and fewer segments are kept.
    wal_compression: "on",
    max_wal_size: "512MB",
    min_wal_size: "64MB",

    timezone: "UTC",
    log_timezone: "UTC",
    log_min_messages: "warning",
    log_checkpoints: "off",
  };
}
