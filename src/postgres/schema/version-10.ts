/** Functions only: what processes of the first version send is understood again. */
export const postgresVersion10 = "";
