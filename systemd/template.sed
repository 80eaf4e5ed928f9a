# Makes martlet@.service of martlet.service: one sidecar for each program, with directories of its own.
s|^Description=.*|& for %i|
s|/etc/martlet/martlet\.yaml|/etc/martlet/%i.yaml|
s|/run/martlet/admin\.sock|/run/martlet/NAME/admin.sock|
s|sockets in /run/martlet\.|sockets in /run/martlet/NAME.|
s|%S/martlet|&/%i|
s|^[A-Z][a-z]*Directory=martlet$|&/%i|
s|^# The directories of martlet@.*|# Unix sockets that systemd keeps during a restart are in it.|
s|^RuntimeDirectoryPreserve=yes|RuntimeDirectoryPreserve=restart|
