/**
 * PostgreSQL's settings, as arguments: there they win over `postgresql.conf`, where an operator may change everything else, and
 * over anything written into the folder.
 */
export function settings({
  socketDir,
  connections,
  tcpPort,
}: {
  socketDir: string;
  connections: number;
  tcpPort: number | undefined;
}): Readonly<Record<string, string>> {
  return {
    listen_addresses: tcpPort === undefined ? "" : "127.0.0.1",
    port: String(tcpPort ?? 5432),
    unix_socket_directories: socketDir,
    unix_socket_permissions: "0700",
    max_connections: String(connections),

    // What we promise a caller stands on these three.
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    // On macOS a plain fsync leaves data in the drive's own cache.
    ...(process.platform === "darwin" ? { wal_sync_method: "fsync_writethrough" } : {}),

    // A small machine. Parallel queries need /dev/shm, of which a container has 64 MB, and take cores from the servers; io_method
    // `worker` (the default) keeps three more processes for scans that a database of this size does not make.
    shared_buffers: "128MB",
    max_parallel_workers_per_gather: "0",
    max_parallel_maintenance_workers: "0",
    io_method: "sync",
    jit: "off",

    // The log is most of a small data folder: fewer bytes per page, fewer kept segments.
    wal_compression: "on",
    max_wal_size: "512MB",
    min_wal_size: "64MB",

    timezone: "UTC",
    log_timezone: "UTC",
    log_min_messages: "warning",
    log_checkpoints: "off",
  };
}
