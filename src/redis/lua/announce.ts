// Redis has scripts send what a client of its own would need another connection for.

export const announce = "return redis.call('PUBLISH', ARGV[1], ARGV[2])";
