-- a comment
SELECT count(*) FROM t WHERE name = 'x' /* and
more */ LIMIT 10;
