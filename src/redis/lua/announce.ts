// Redis has scripts send what a client of its own would need another connection for.

export const announce = "for i = 2, #ARGV do redis.call('PUBLISH', ARGV[1], ARGV[i]) end";
