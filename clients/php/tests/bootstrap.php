<?php

// Loads the library as those without Composer do, and what the tests share.

declare(strict_types=1);

error_reporting(E_ALL);
ini_set('zend.exception_ignore_args', '0');
putenv('HEALTH_INTEROP_BASE_URL');

require dirname(__DIR__) . '/autoload.php';
foreach (glob(__DIR__ . '/Support/*.php') ?: [] as $file) {
    require_once $file;
}
